// A thread for the socket.

import { HEARTBEAT_MS, Socket, type News, type Order } from "./socket";

const scope = self as unknown as {
  onmessage: ((event: MessageEvent<Order>) => void) | null;
  postMessage(news: News, transfer: Transferable[]): void;
};

const socket = new Socket((news) => scope.postMessage(news, "frame" in news ? [news.frame] : []));
scope.onmessage = (event) => socket.take(event.data);
setInterval(() => socket.beat(), HEARTBEAT_MS);
