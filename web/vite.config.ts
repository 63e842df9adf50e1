import { defineConfig } from "vite";

// `npm run dev` shows changes at once; it passes the socket on to a palpate that runs on its usual port.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../palpate/page/static",
    emptyOutDir: true,
    target: "es2022",
    chunkSizeWarningLimit: 1200, // three.js is one large chunk, loaded from this machine
  },
  server: { host: "127.0.0.1", proxy: { "/ws": { target: "ws://127.0.0.1:8642", ws: true } } },
});
