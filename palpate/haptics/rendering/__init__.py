"""What a hand feels: the virtual proxy on every shape and mesh, surfaces with friction, textures.  Sees no device."""
