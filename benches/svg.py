"""Writes line plots as SVG files, without dependencies."""

WIDTH, HEIGHT, LEFT, TOP = 300, 220, 48, 28
COLORS = ["#888888", "#1f6fb4", "#d2691e", "#2e8b57"]
COLUMNS = 3  # labels side by side below a panel


def svg(path, panels, x_name):
    """Writes panels side by side. A panel is (title, [(label, [(x, y)])])."""
    rows = max((len(lines) - 1) // COLUMNS for _, lines in panels)
    width, height = len(panels) * (WIDTH + LEFT) + 20, HEIGHT + TOP + 62 + 15 * rows
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="11">'
        '<rect width="100%" height="100%" fill="white"/>'
    ]
    for i, panel in enumerate(panels):
        out += draw(panel, LEFT + i * (WIDTH + LEFT), x_name)
    open(path, "w").write("\n".join(out) + "\n</svg>\n")


def draw(panel, x0, x_name):
    """Yields the elements of a panel whose left edge is at x0."""
    title, lines = panel
    points = [p for _, line in lines for p in line]
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    low, high = min(ys), max(ys)
    pad = 0.05 * (high - low) or 1
    low, high = low - pad, high + pad
    right = x0 + WIDTH - 20
    scale_x = lambda x: x0 + (x - min(xs)) / (max(xs) - min(xs)) * (WIDTH - 20)
    scale_y = lambda y: TOP + HEIGHT - (y - low) / (high - low) * HEIGHT

    yield f'<text x="{x0}" y="{TOP - 10}" font-weight="bold">{title}</text>'
    for k in range(5):
        y = low + k * (high - low) / 4
        py = scale_y(y)
        yield f'<line x1="{x0}" x2="{right}" y1="{py:.1f}" y2="{py:.1f}" stroke="#dddddd"/>'
        yield f'<text x="{x0 - 4}" y="{py + 4:.1f}" text-anchor="end">{y:.3g}</text>'
    for x in sorted({min(xs), (min(xs) + max(xs)) / 2, max(xs)}):
        position = f'x="{scale_x(x):.1f}" y="{TOP + HEIGHT + 14}"'
        yield f'<text {position} text-anchor="middle">{x:.3g}</text>'
    position = f'x="{x0 + WIDTH / 2 - 10}" y="{TOP + HEIGHT + 28}"'
    yield f'<text {position} text-anchor="middle">{x_name}</text>'
    for j, (label, line) in enumerate(lines):
        path = " ".join(f"{scale_x(x):.1f},{scale_y(y):.1f}" for x, y in line)
        color = COLORS[j % len(COLORS)]
        yield f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="1.5"/>'
        if len(line) < 12:
            for x, y in line:
                center = f'cx="{scale_x(x):.1f}" cy="{scale_y(y):.1f}"'
                yield f'<circle {center} r="2.5" fill="{color}"/>'
        row, column = divmod(j, COLUMNS)
        position = f'x="{x0 + 110 * column}" y="{TOP + HEIGHT + 46 + 15 * row}"'
        yield f'<text {position} fill="{color}">{label}</text>'
