import { expect, test, vi } from "vitest";
import { FROZEN_MS, HEARTBEAT_MS, retryDelay, Socket, type News } from "../src/socket";

/** A socket whose other end is the test. */
function setUp() {
  const wires: { sent: string[]; readyState: number; onmessage?: (e: { data: unknown }) => void; onclose?: () => void }[] = [];
  const news: News[] = [];
  const clock = { now: 0 };
  const connect = (): WebSocket => {
    const wire = { sent: [] as string[], readyState: 1, send: (text: string) => void wire.sent.push(text) };
    wires.push(wire);
    return wire as unknown as WebSocket;
  };
  const socket = new Socket((n) => news.push(n), connect, () => clock.now);
  socket.take({ do: "open", url: "ws://here/ws" });
  return { socket, wires, news, clock };
}

const HOLD = { type: "hand", body: 3, at_body: [0, 0, 0], target: [1, 0, 0], stiffness: 800 } as const;
const hold = { do: "send", message: { ...HOLD, at_body: [...HOLD.at_body], target: [...HOLD.target] } } as never;

test("what the hand holds is said again and again until it is let go", () => {
  const { socket, wires, clock } = setUp();
  socket.take(hold);
  for (let k = 0; k < 3; k++) {
    clock.now += HEARTBEAT_MS;
    socket.beat();
  }
  expect(wires[0]!.sent).toEqual(Array(4).fill(JSON.stringify(HOLD)));
  socket.take({ do: "send", message: { type: "release" } });
  clock.now += HEARTBEAT_MS;
  socket.beat();
  expect(wires[0]!.sent.length).toBe(5);
  expect(wires[0]!.sent[4]).toBe('{"type":"release"}');
});

test("each of two hands is said again, and one goes on when the other lets go", () => {
  const { socket, wires, clock } = setUp();
  const hands = [0, 1].map((hand) => ({ ...HOLD, hand, target: [hand, 0, 0] }));
  for (const message of hands) socket.take({ do: "send", message } as never);
  clock.now += HEARTBEAT_MS;
  socket.beat();
  expect(wires[0]!.sent.slice(2)).toEqual(hands.map((hand) => JSON.stringify(hand)));
  socket.take({ do: "send", message: { type: "release", hand: 0 } });
  clock.now += HEARTBEAT_MS;
  socket.beat();
  expect(wires[0]!.sent.slice(5)).toEqual([JSON.stringify(hands[1])]);
  socket.take({ do: "send", message: { type: "release" } });
  clock.now += HEARTBEAT_MS;
  socket.beat();
  expect(wires[0]!.sent.length).toBe(7);
});

test("a hand that moves all the time does not keep the other from being said again", () => {
  const { socket, wires, clock } = setUp();
  const still = { ...HOLD, hand: 1 };
  socket.take({ do: "send", message: still } as never);
  for (let k = 0; k < 4; k++) {
    clock.now += HEARTBEAT_MS;
    socket.take({ do: "send", message: { ...HOLD, hand: 0, target: [k, 0, 0] } } as never);
    socket.beat();
  }
  expect(wires[0]!.sent.filter((text) => text === JSON.stringify(still)).length).toBe(5);
});

test("a frozen page holds nothing, and holds again when it stirs", () => {
  const { socket, wires, clock } = setUp();
  socket.take(hold);
  clock.now += FROZEN_MS + 1;
  socket.beat();
  expect(wires[0]!.sent.length).toBe(1);
  socket.take({ do: "stir" });
  socket.beat();
  expect(wires[0]!.sent.length).toBe(2);
});

test("a page that is slow to draw gets the newest frame, not the queue", () => {
  const { socket, wires, news, clock } = setUp();
  const frames = [1, 2, 3, 4].map((n) => new ArrayBuffer(n));
  frames.forEach((data, k) => {
    clock.now = 10 * k;
    wires[0]!.onmessage!({ data });
  });
  expect(news).toEqual([{ frame: frames[0], at: 0 }]);
  socket.take({ do: "next" });
  expect(news).toEqual([{ frame: frames[0], at: 0 }, { frame: frames[3], at: 30 }]);
  socket.take({ do: "next" });
  wires[0]!.onmessage!({ data: frames[1] });
  expect(news.length).toBe(3);
});

test("a lost connection is told, forgets the hold, and is tried again, ever more slowly", () => {
  vi.useFakeTimers();
  const { socket, wires, news, clock } = setUp();
  socket.take(hold);
  wires[0]!.onclose!();
  expect(news).toEqual([{ lost: true }]);
  vi.advanceTimersByTime(retryDelay(0));
  expect(wires.length).toBe(2);
  clock.now += HEARTBEAT_MS;
  socket.beat();
  expect(wires[1]!.sent).toEqual([]);
  expect(retryDelay(0)).toBeLessThan(retryDelay(1));
  expect(retryDelay(50)).toBe(2000);
  vi.useRealTimers();
});
