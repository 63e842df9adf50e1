"""A fake of the Haply Inverse Service: a real websocket server on a loopback port, in a thread of its own.

One state per message, as the vendor promises; it takes a force as `vector` or as `values`, unless told to take one.
"""

import asyncio
import json
import threading

from aiohttp import WSMsgType, web
from waiting import WAIT_S


class FakeService:
    """`with FakeService() as service:` gives `service.port`, which serves simulation, events and HTTP."""

    def __init__(self, version="3.5.0.0", device_ids=("049D",), accepts=("vector", "values"), wrapped=True):
        self.version, self.ids, self.accepts, self.wrapped = version, list(device_ids), accepts, wrapped
        self.position, self.velocity = {"x": 0.0, "y": -0.12, "z": 0.15}, {"x": 0.0, "y": 0.0, "z": 0.0}
        self.grip = None  # a state of the wireless grip
        self.messages, self.forces, self.fields = [], {i: [] for i in self.ids}, set()
        self.answer = None  # a text instead of the state
        self.silent, self.port, self.events_port = False, 0, 0
        self._sockets, self._listeners = set(), set()

    def __enter__(self):
        started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(started)), daemon=True)
        self._thread.start()
        assert started.wait(WAIT_S)
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """The service ends, in the middle of whatever it does."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join(WAIT_S)

    async def _serve(self, started):
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        app, events = web.Application(), web.Application()
        app.router.add_get("/version", self._tell_version)
        app.router.add_get("/", self._simulate)
        events.router.add_get("/", self._tell_events)
        runners = []
        for application, name in ((app, "port"), (events, "events_port")):
            runner = web.AppRunner(application, shutdown_timeout=0.1)
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            setattr(self, name, site._server.sockets[0].getsockname()[1])
            runners.append(runner)
        started.set()
        await self._end.wait()
        for socket in self._sockets | self._listeners:
            await socket.close()
        for runner in runners:
            await runner.cleanup()

    async def _tell_version(self, request):
        if self.version is None:
            return web.Response(status=404)
        version = {"project_name": "haply-inverse-service", "project_version": self.version}
        return web.json_response({"ok": True, "data": version} if self.wrapped else version)

    def state(self, with_config=False):
        message = {
            "inverse3": [
                {"device_id": i, "state": {"cursor_position": self.position, "cursor_velocity": self.velocity}}
                for i in self.ids
            ]
        }
        if self.grip is not None:
            message["wireless_verse_grip"] = [{"device_id": "61548", "state": self.grip}]
        if with_config:
            message["session_id"] = 7
            for device in message["inverse3"]:
                device["config"] = {"type": "inverse3", "handedness": "right"}
        return json.dumps(message)

    async def _simulate(self, request):
        socket = web.WebSocketResponse(compress=False)
        await socket.prepare(request)
        self._sockets.add(socket)
        await socket.send_str(self.state(with_config=True))
        async for message in socket:
            if message.type != WSMsgType.TEXT:
                break
            self._take(json.loads(message.data))
            if not self.silent:
                await socket.send_str(self.state() if self.answer is None else self.answer)
        self._sockets.discard(socket)
        return socket

    def _take(self, message):
        self.messages.append(message)
        for device in message.get("inverse3", []):
            for field, vector in device["commands"].get("set_cursor_force", {}).items():
                self.fields.add(field)
                if field in self.accepts and device["device_id"] in self.forces:
                    self.forces[device["device_id"]].append((vector["x"], vector["y"], vector["z"]))

    async def _tell_events(self, request):
        socket = web.WebSocketResponse(compress=False)
        await socket.prepare(request)
        self._listeners.add(socket)
        async for _ in socket:
            pass
        self._listeners.discard(socket)
        return socket

    def tell(self, name, **data):
        """An event to all who listen."""
        text = json.dumps({"name": name, "category": "device", "level": "warning", "data": data, "message": ""})

        async def send():
            for socket in self._listeners:
                await socket.send_str(text)

        asyncio.run_coroutine_threadsafe(send(), self._loop).result(WAIT_S)
