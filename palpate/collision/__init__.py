"""Who touches whom: broad phase, shape pairs, meshes, patches of contacts.  Distances and normals, never forces."""
