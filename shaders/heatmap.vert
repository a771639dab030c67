// SPDX-License-Identifier: GPL-3.0-or-later
// One rectangle of whole device pixels, y down; drawn as a strip of four vertices.

uniform vec4 bounds;   // x0, y0, x1, y1
uniform vec2 viewport; // width, height

void main()
{
    vec2 corner = vec2((gl_VertexID & 1) == 0 ? bounds.x : bounds.z,
                       (gl_VertexID & 2) == 0 ? bounds.y : bounds.w);

    gl_Position = vec4(corner.x / viewport.x * 2.0 - 1.0, 1.0 - corner.y / viewport.y * 2.0, 0.0,
                       1.0);
}
