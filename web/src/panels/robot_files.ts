// The files of a robot of one's own, as the session takes them: names with their folders, contents as base64.

export const MOST_BYTES = 34 * 2 ** 20; // a third more as base64, within what one request may be (palpate/page/messages.py)
export const MOST_FILES = 400;
export const DESCRIPTIONS = [".urdf", ".xml", ".mjcf"];
export const MESHES = [".stl", ".obj", ".dae", ".ply"];

export interface Chosen {
  name: string;
  size: number;
}

const ends = (name: string, endings: string[]): boolean => endings.some((ending) => name.toLowerCase().endsWith(ending));

/** Of everything in a folder, what a robot can need; a line that says why it cannot be one, or "". */
export function worthSending<F extends Chosen>(files: F[]): { files: F[]; wrong: string } {
  const useful = files.filter(({ name }) => ends(name, [...DESCRIPTIONS, ...MESHES]));
  const bytes = useful.reduce((sum, { size }) => sum + size, 0);
  const megabytes = (n: number): string => `${(n / 2 ** 20).toFixed(0)} MB`;
  const tooLarge = `These files have ${megabytes(bytes)}; a robot may have ${megabytes(MOST_BYTES)}. Choose the .urdf and only the meshes it names.`;
  let wrong = "";
  if (!useful.some(({ name }) => ends(name, DESCRIPTIONS))) wrong = "None of the files is a .urdf.";
  else if (useful.length > MOST_FILES) wrong = `These are ${useful.length} files; a robot may have ${MOST_FILES}.`;
  else if (bytes > MOST_BYTES) wrong = tooLarge;
  return { files: useful, wrong };
}

/** Where a file lies: with its folders, if a folder was chosen. */
export function pathOf(file: { name: string; webkitRelativePath?: string }): string {
  return file.webkitRelativePath || file.name;
}

export async function encoded(files: File[]): Promise<Record<string, string>> {
  const pairs = await Promise.all(files.map(async (file) => [pathOf(file), base64(new Uint8Array(await file.arrayBuffer()))]));
  return Object.fromEntries(pairs) as Record<string, string>;
}

const CHUNK = 0x6000; // a multiple of three: chunks join without padding, and few enough for one call

export function base64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let i = 0; i < bytes.length; i += CHUNK) parts.push(btoa(String.fromCharCode(...bytes.subarray(i, i + CHUNK))));
  return parts.join("");
}
