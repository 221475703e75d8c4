# grid.gp: panels of one size, as many in a row as the width has room for; what they have in common.
#
# FIGURE-layout.gp says how wide a panel is at least (panel_least), how high (panel_height), and how
# much of its width is for labels at the right (panel_room). For panel p it has text_p, where its
# words begin: a title, two notes, and a label per series; block_p, its first block in FIGURE.tsv; and
# styles_p, a number per series: what it is, 1 to 4, plus 4 for each further one that is the same.
# The table has no missing numbers where a series has a point: a range that is not there has no length.
narrow = width < 500
if (narrow) { panel_room = 8 }
panel_edge = narrow ? 66 : 70
panel_head = narrow ? 88 : 64
panel_foot = 58
fitting = int(floor(1.0 * (width - panel_edge) / panel_least))
fitting = fitting < 1 ? 1 : fitting
panel_columns = panel_columns > 0 && panel_columns <= fitting ? panel_columns : \
    int(ceil(1.0 * panels / ceil(1.0 * panels / fitting)))
panel_rows = int(ceil(1.0 * panels / panel_columns))
panel_width = 1.0 * (width - panel_edge - 8) / panel_columns
height = 1.0 * panel_rows * (panel_head + panel_height + panel_foot) + 42

# What has a colour has it in all figures: the plain program, DataParallel, ranks, PyTorch.
array hue[4] = [0x555555, 0x0072b2, 0x009e73, 0xd55e00]
series_of(p) = words(value(sprintf("styles_%d", p)))
kind(style) = (style - 1) % 4 + 1
hue_of(style) = hue[kind(style)]
point_of(style) = style > 4 ? int(word("11 15 2", (style - 5) / 4 % 3 + 1)) : int(word("13 7 9 5", style))
dash_of(style) = int(word("3 1 2 4", kind(style)))
table = figure.".tsv"

# Text cut to so many pixels at a size of font.
fit(s, pixels, size) = strlen(s) * 0.55 * size <= pixels ? s : \
    substr(s, 1, int(pixels / (0.55 * size)) - 1)."…"
say_fit(i, pixels, size) = fit(text[is("text") + i], pixels, size)
