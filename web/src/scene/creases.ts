// Normals of a mesh that says nothing of them: smooth over gentle bends, sharp at edges. Files often repeat a vertex in
// each of its triangles, so vertices at one place count as one.

const SHARP = Math.cos((38 * Math.PI) / 180); // between the normals of two triangles: beyond it, an edge is seen
const GRID = 1 << 17; // places along each side of the box around the mesh within which vertices are told apart

export interface Corners {
  positions: Float32Array; // three corners of each triangle, three numbers each
  normals: Float32Array;
}

/** Corners of `triangles` (three numbers of `vertices` each), each with the mean normal of what bends gently there. */
export function creased(vertices: Float32Array, triangles: Uint32Array, sharp = SHARP): Corners {
  const count = triangles.length;
  const positions = new Float32Array(3 * count);
  for (let c = 0; c < count; c++) {
    const v = 3 * triangles[c]!;
    positions[3 * c] = vertices[v]!;
    positions[3 * c + 1] = vertices[v + 1]!;
    positions[3 * c + 2] = vertices[v + 2]!;
  }
  const faces = faceNormals(positions);
  const at = places(vertices);
  const meeting = around(triangles, at);
  const normals = new Float32Array(3 * count);
  for (let c = 0; c < count; c++) {
    const own = 4 * Math.floor(c / 3);
    let [x, y, z] = [0, 0, 0];
    for (let k = meeting.begin[at[triangles[c]!]!]!; k < meeting.begin[at[triangles[c]!]! + 1]!; k++) {
      const f = 4 * meeting.faces[k]!;
      const bend = faces[own]! * faces[f]! + faces[own + 1]! * faces[f + 1]! + faces[own + 2]! * faces[f + 2]!;
      if (bend < sharp) continue;
      x += faces[f + 3]! * faces[f]!; // by area: slivers say little
      y += faces[f + 3]! * faces[f + 1]!;
      z += faces[f + 3]! * faces[f + 2]!;
    }
    const length = Math.hypot(x, y, z);
    normals[3 * c] = length > 0 ? x / length : faces[own]!;
    normals[3 * c + 1] = length > 0 ? y / length : faces[own + 1]!;
    normals[3 * c + 2] = length > 0 ? z / length : faces[own + 2]!;
  }
  return { positions, normals };
}

/** Of each triangle: its unit normal and twice its area; one without area looks up. */
function faceNormals(p: Float32Array): Float64Array {
  const out = new Float64Array((4 * p.length) / 9);
  for (let i = 0, f = 0; i < p.length; i += 9, f += 4) {
    const [ax, ay, az] = [p[i + 3]! - p[i]!, p[i + 4]! - p[i + 1]!, p[i + 5]! - p[i + 2]!];
    const [bx, by, bz] = [p[i + 6]! - p[i]!, p[i + 7]! - p[i + 1]!, p[i + 8]! - p[i + 2]!];
    const [x, y, z] = [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx];
    const twice = Math.hypot(x, y, z);
    out[f] = twice > 0 ? x / twice : 0;
    out[f + 1] = twice > 0 ? y / twice : 0;
    out[f + 2] = twice > 0 ? z / twice : 1;
    out[f + 3] = twice;
  }
  return out;
}

/** A number for the place of each vertex: equal for those that lie together. */
function places(vertices: Float32Array): Uint32Array {
  const low = [Infinity, Infinity, Infinity];
  let size = 0;
  for (let i = 0; i < vertices.length; i++) low[i % 3] = Math.min(low[i % 3]!, vertices[i]!);
  for (let i = 0; i < vertices.length; i++) size = Math.max(size, vertices[i]! - low[i % 3]!);
  const step = size > 0 ? (GRID - 1) / size : 0;
  const known = new Map<number, number>();
  const out = new Uint32Array(vertices.length / 3);
  for (let v = 0; v < out.length; v++) {
    const [x, y, z] = [0, 1, 2].map((axis) => Math.round((vertices[3 * v + axis]! - low[axis]!) * step));
    const key = x! + GRID * (y! + GRID * z!); // below 2^51: a whole number
    let place = known.get(key);
    if (place === undefined) known.set(key, (place = known.size));
    out[v] = place;
  }
  return out;
}

/** Which triangles meet at each place: those of place k are faces[begin[k]] up to faces[begin[k + 1]]. */
function around(triangles: Uint32Array, at: Uint32Array): { begin: Uint32Array; faces: Uint32Array } {
  const begin = new Uint32Array(at.reduce((most, k) => Math.max(most, k + 1), 0) + 1);
  for (const v of triangles) begin[at[v]! + 1]!++;
  for (let k = 1; k < begin.length; k++) begin[k]! += begin[k - 1]!;
  const next = begin.slice();
  const faces = new Uint32Array(triangles.length);
  triangles.forEach((v, c) => {
    faces[next[at[v]!]!++] = Math.floor(c / 3);
  });
  return { begin, faces };
}
