// SPDX-License-Identifier: GPL-3.0-or-later
// Picture, map and mask of one rectangle; formulas as in ui/gl/heatmap-paint.c. Variants by
// HAS_PICTURE, HAS_ALPHA, HAS_MAP, ALL_FINITE, HAS_MASK, LINEAR, CONTOURS and DIM. Output is
// opaque.

uniform vec2 viewport;
uniform vec3 background;
uniform float pixel_scale; // device pixels per logical pixel

#ifdef HAS_PICTURE
uniform sampler2D picture; // premultiplied
uniform vec4 picture_place; // scale x, y, offset x, y: device position to texel
uniform float sharpness;
#endif

#ifdef HAS_MAP
uniform sampler2D map;
uniform vec4 map_place;
uniform sampler2D colours; // 256 x 1
uniform vec3 nan_colour;
uniform vec2 range;
uniform float opacity;
#ifdef CONTOURS
uniform float contours[16];
uniform int n_contours;
#endif
#endif

#ifdef HAS_MASK
uniform sampler2D mask;
uniform vec4 mask_place;
#endif

layout(location = 0) out vec4 colour;

// Rising stripes, a quarter of a period of that many logical pixels wide.
bool is_hatched(vec2 at, float logical)
{
    // With floats: division of integers is slow where there is no GPU.
    float period = max(floor(logical * pixel_scale), 2.0);
    float along = floor(at.x) + floor(at.y);

    return 4.0 * (along - period * floor(along / period)) < period;
}

// By the bits, because compilers may assume that there is no NaN.
bool is_finite(float value)
{
    return (floatBitsToUint(value) & 0x7f800000u) != 0x7f800000u;
}

bool is_nan(float value)
{
    return !is_finite(value) && (floatBitsToUint(value) & 0x007fffffu) != 0u;
}

#ifdef HAS_ALPHA
float checker(vec2 at)
{
    vec2 square = floor(floor(at) / max(floor(8.0 * pixel_scale), 1.0));
    float sum = square.x + square.y;

    return sum - 2.0 * floor(sum / 2.0) > 0.5 ? 0.62 : 0.78;
}
#endif

#ifdef HAS_PICTURE
vec3 picture_colour(vec2 at)
{
    vec2 texel = at * picture_place.xy + picture_place.zw - 0.5;
    ivec2 first = clamp(ivec2(floor(texel)), ivec2(0), textureSize(picture, 0) - 2);
    vec2 part = clamp(texel - vec2(first), 0.0, 1.0);
    vec4 above, below, mixed;

    part = clamp((part - 0.5) * sharpness + 0.5, 0.0, 1.0);
    above = mix(texelFetch(picture, first, 0), texelFetch(picture, first + ivec2(1, 0), 0),
                part.x);
    below = mix(texelFetch(picture, first + ivec2(0, 1), 0),
                texelFetch(picture, first + ivec2(1, 1), 0), part.x);
    mixed = mix(above, below, part.y);
#ifdef HAS_ALPHA
    mixed.rgb += (1.0 - mixed.a) * checker(at);
#endif
    return mixed.rgb;
}
#endif

#ifdef HAS_MAP
float nearest_value(vec2 texel)
{
    return texelFetch(map, clamp(ivec2(floor(texel)), ivec2(0), textureSize(map, 0) - 1), 0).r;
}

// x: the linear field through the finite neighbours of a finite texel; yz: its gradient per texel.
vec3 linear_value(vec2 texel, float nearest)
{
    ivec2 first = clamp(ivec2(floor(texel - 0.5)), ivec2(0), textureSize(map, 0) - 2);
    vec2 part = clamp(texel - 0.5 - vec2(first), 0.0, 1.0);
    vec4 weights = vec4((1.0 - part.x) * (1.0 - part.y), part.x * (1.0 - part.y),
                        (1.0 - part.x) * part.y, part.x * part.y);
    vec4 values = vec4(texelFetch(map, first, 0).r, texelFetch(map, first + ivec2(1, 0), 0).r,
                       texelFetch(map, first + ivec2(0, 1), 0).r,
                       texelFetch(map, first + ivec2(1, 1), 0).r);
    vec2 gradient = vec2(mix(values.y - values.x, values.w - values.z, part.y),
                         mix(values.z - values.x, values.w - values.y, part.x));

#ifdef ALL_FINITE
    return vec3(dot(weights, values), gradient);
#else
    bvec4 finite = bvec4(is_finite(values.x), is_finite(values.y), is_finite(values.z),
                         is_finite(values.w));
    float sum = 0.0, total = 0.0;

    if (!is_finite(nearest))
        return vec3(nearest, 0.0, 0.0);
    for (int i = 0; i < 4; i++) {
        if (finite[i]) {
            sum += weights[i] * values[i];
            total += weights[i];
        }
    }
    return vec3(total > 0.0 ? sum / total : nearest, all(finite) ? gradient : vec2(0.0));
#endif
}

vec3 map_colour(float value, vec2 at)
{
    float part;

#ifndef ALL_FINITE
    if (is_nan(value))
        return nan_colour * (is_hatched(at, 8.0) ? 0.55 : 1.0);
#endif
    if (range.y > range.x)
        part = clamp((value - range.x) / (range.y - range.x), 0.0, 1.0);
    else
        part = value > range.y ? 1.0 : 0.0;
    return texelFetch(colours, ivec2(int(floor(part * 255.0 + 0.5)), 0), 0).rgb;
}

#ifdef CONTOURS
float contour_cover(vec3 field)
{
    float slope = length(field.yz * map_place.xy);
    float cover = 0.0;

    if (!(slope > 0.0) || !is_finite(field.x))
        return 0.0;
    for (int i = 0; i < n_contours; i++) {
        float away = abs(field.x - contours[i]) / slope;

        cover = max(cover, clamp(0.5 * pixel_scale + 0.5 - away, 0.0, 1.0));
    }
    return cover;
}
#endif
#endif

#ifdef HAS_MASK
bool is_inside(ivec2 at)
{
    float value = texelFetch(mask, clamp(at, ivec2(0), textureSize(mask, 0) - 1), 0).r;

    return !is_nan(value) && value >= 0.5;
}

// Pixels that count neither as inside nor as outside.
bool is_ignored(ivec2 at)
{
    return is_nan(texelFetch(mask, clamp(at, ivec2(0), textureSize(mask, 0) - 1), 0).r);
}

float border_distance(vec2 texel)
{
    ivec2 at = ivec2(floor(texel));
    vec2 part = texel - vec2(at);
    bool inside = is_inside(at);
    float nearest = 1e6;

    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            vec2 away = vec2(dx < 0 ? part.x : dx > 0 ? 1.0 - part.x : 0.0,
                             dy < 0 ? part.y : dy > 0 ? 1.0 - part.y : 0.0);

            if (is_inside(at + ivec2(dx, dy)) != inside)
                nearest = min(nearest, length(away / mask_place.xy));
        }
    }
    return nearest;
}
#endif

void main()
{
    vec2 at = vec2(gl_FragCoord.x, viewport.y - gl_FragCoord.y);
    vec3 shown = background;

#ifdef HAS_PICTURE
    shown = picture_colour(at);
#endif
#ifdef HAS_MAP
    vec2 texel = at * map_place.xy + map_place.zw;
    float nearest = nearest_value(texel);
#if defined(LINEAR) || defined(CONTOURS)
    vec3 field = linear_value(texel, nearest);
#endif
#ifdef LINEAR
    shown = mix(shown, map_colour(field.x, at), opacity);
#else
    shown = mix(shown, map_colour(nearest, at), opacity);
#endif
#ifdef CONTOURS
    float ink = dot(shown, vec3(0.299, 0.587, 0.114)) > 0.5 ? 0.0 : 1.0;

    shown = mix(shown, vec3(ink), 0.75 * contour_cover(field));
#endif
#elif defined(DIM)
    shown = mix(shown, background, DIM);
#endif
#ifdef HAS_MASK
    vec2 mask_texel = at * mask_place.xy + mask_place.zw;
    float away = border_distance(mask_texel);

    if (is_ignored(ivec2(floor(mask_texel))))
        shown = is_hatched(at, 6.0) ? mix(shown, vec3(1.0), 0.65) : mix(shown, vec3(0.0), 0.25);
    shown = mix(shown, vec3(0.0), 0.7 * clamp(2.0 * pixel_scale + 0.5 - away, 0.0, 1.0));
    shown = mix(shown, vec3(1.0), clamp(pixel_scale + 0.5 - away, 0.0, 1.0));
#endif
    colour = vec4(shown, 1.0);
}
