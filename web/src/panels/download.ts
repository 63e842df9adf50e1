// A text, or bytes, as a file to save.

import { el } from "../dom";

export function offer(name: string, content: string | Blob): void {
  const address = URL.createObjectURL(typeof content === "string" ? new Blob([content], { type: "text/plain" }) : content);
  const link = el("a", { href: address, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000); // the browser has read it by then
}
