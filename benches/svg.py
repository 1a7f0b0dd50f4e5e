"""Line plots as SVG files, with nothing but Python."""


def svg(path, panels, x_name):
    """Panels side by side: (title, [(label, [(x, y)])])."""
    width, height, left, top = 300, 220, 48, 28
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{len(panels) * (width + left) + 20}" height="{height + top + 62}" '
        'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>'
    ]
    colors = ["#888888", "#1f6fb4", "#d2691e", "#2e8b57"]
    for i, (title, lines) in enumerate(panels):
        x0, points = left + i * (width + left), [p for _, line in lines for p in line]
        xs, ys = [p[0] for p in points], [p[1] for p in points]
        low, high = min(ys), max(ys)
        pad = 0.05 * (high - low) or 1
        low, high = low - pad, high + pad
        place = lambda p: (
            x0 + (p[0] - min(xs)) / (max(xs) - min(xs)) * (width - 20),
            top + height - (p[1] - low) / (high - low) * height,
        )
        out.append(f'<text x="{x0}" y="{top - 10}" font-weight="bold">{title}</text>')
        for k in range(5):
            y = low + k * (high - low) / 4
            py = place((min(xs), y))[1]
            out.append(f'<line x1="{x0}" x2="{x0 + width - 20}" y1="{py:.1f}" y2="{py:.1f}" stroke="#dddddd"/>')
            out.append(f'<text x="{x0 - 4}" y="{py + 4:.1f}" text-anchor="end">{y:.3g}</text>')
        for x in sorted({min(xs), (min(xs) + max(xs)) / 2, max(xs)}):
            px = place((x, low))[0]
            out.append(f'<text x="{px:.1f}" y="{top + height + 14}" text-anchor="middle">{x:.3g}</text>')
        out.append(f'<text x="{x0 + width / 2 - 10}" y="{top + height + 28}" text-anchor="middle">{x_name}</text>')
        for j, (label, line) in enumerate(lines):
            path_points = " ".join("%.1f,%.1f" % place(p) for p in line)
            color = colors[j % len(colors)]
            out.append(f'<polyline points="{path_points}" fill="none" stroke="{color}" stroke-width="1.5"/>')
            if len(line) < 12:
                out += ['<circle cx="%.1f" cy="%.1f" r="2.5" fill="%s"/>' % (*place(p), color) for p in line]
            out.append(f'<text x="{x0 + 110 * j}" y="{top + height + 46}" fill="{color}">{label}</text>')
    open(path, "w").write("\n".join(out) + "\n</svg>\n")
