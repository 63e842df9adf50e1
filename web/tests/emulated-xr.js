// A headset that is not there, for a real browser: give this file to the page before its own scripts run. It has two
// controllers; `xrDevice` moves and squeezes them, and counts their pulses:
//     xrDevice.controllers.right.at = [x, y, z]   metres, y up; it looks along -z
//     xrDevice.squeeze("right"), xrDevice.open("right"), xrDevice.controllers.right.pulses
// Only what three.js and the page use of WebXR is played; both eyes draw into the page's own canvas.

(() => {
  const matrix = ([x, y, z]) => Float32Array.from([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, z, 1]);
  const place = (at) => ({ transform: { matrix: matrix(at), inverse: { matrix: matrix(at.map((x) => -x)) }, position: { x: at[0], y: at[1], z: at[2] }, orientation: { x: 0, y: 0, z: 0, w: 1 } } });
  const controller = (handedness, at) => {
    const made = { handedness, at, pulses: [], targetRayMode: "tracked-pointer", profiles: [], hand: null };
    made.targetRaySpace = made.gripSpace = { get at() { return made.at; } };
    made.gamepad = { axes: [], buttons: [], hapticActuators: [{ pulse: (strength) => Promise.resolve(made.pulses.push(strength)) }] };
    return made;
  };
  const controllers = { right: controller("right", [0.2, 1.2, 0]), left: controller("left", [-0.2, 1.2, 0]) };
  const device = { controllers, head: [0, 1.6, 0], session: null, pictures: 0 };
  const perspective = Float32Array.from([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1.002, -1, 0, 0, -0.2002, 0]); // 90 degrees each way

  class Session extends EventTarget {
    inputSources = Object.values(controllers);
    visibilityState = "visible";
    environmentBlendMode = "opaque";
    enabledFeatures = ["local-floor"];
    renderState = {};
    updateRenderState(state) { Object.assign(this.renderState, state); }
    requestReferenceSpace() { return Promise.resolve(new EventTarget()); }
    requestAnimationFrame(draw) {
      return requestAnimationFrame((now) => {
        if (device.session !== this) return;
        device.pictures++;
        draw(now, device.frame());
      });
    }
    cancelAnimationFrame(id) { cancelAnimationFrame(id); }
    end() {
      device.session = null;
      this.dispatchEvent(new Event("end"));
      return Promise.resolve();
    }
  }

  device.frame = () => ({
    session: device.session,
    getPose: (space) => place(space.at),
    getViewerPose: () => ({
      ...place(device.head),
      views: ["left", "right"].map((eye, k) => ({ eye, projectionMatrix: perspective, ...place([device.head[0] + 0.06 * (k - 0.5), device.head[1], device.head[2]]) })),
    }),
  });
  const say = (kind) => (which) => device.session?.dispatchEvent(Object.assign(new Event(kind), { inputSource: controllers[which], frame: device.frame() }));
  device.squeeze = say("squeezestart");
  device.open = say("squeezeend");

  const xr = new EventTarget();
  xr.isSessionSupported = () => Promise.resolve(true);
  xr.requestSession = () => {
    device.session = new Session();
    // As a headset does, it says which controllers there are once somebody listens.
    setTimeout(() => device.session?.dispatchEvent(Object.assign(new Event("inputsourceschange"), { added: device.session.inputSources, removed: [] })), 50);
    return Promise.resolve(device.session);
  };
  Object.defineProperty(navigator, "xr", { value: xr, configurable: true });
  WebGL2RenderingContext.prototype.makeXRCompatible = () => Promise.resolve();
  window.XRWebGLBinding = undefined;
  window.XRWebGLLayer = class {
    constructor(session, gl) { Object.assign(this, { framebuffer: null, framebufferWidth: gl.drawingBufferWidth, framebufferHeight: gl.drawingBufferHeight }); }
    getViewport(view) {
      const half = Math.floor(this.framebufferWidth / 2);
      return { x: view.eye === "left" ? 0 : half, y: 0, width: half, height: this.framebufferHeight };
    }
  };
  window.xrDevice = device;
})();
