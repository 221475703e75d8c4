# panel.gp: the place of panel p, the words above it, the names of its axes (x_name, y_name), and
# the footer under the last.
column = (p - 1) % panel_columns
left = panel_edge + column * panel_width
right = left + panel_width - panel_room
bottom = ((p - 1) / panel_columns + 1) * (panel_head + panel_height + panel_foot) - panel_foot
room = panel_width - 14
linear = 0
set lmargin at screen left / width
set rmargin at screen right / width
set tmargin at screen 1 - (bottom - panel_height) / height
set bmargin at screen 1 - bottom / height
set xtics font ",12"
set ytics font ",12"
unset label
unset arrow
unset object
set label 1 say_fit(1, room, 15) at screen left / width, \
    1 - (bottom - panel_height - panel_head + 20) / height noenhanced font ",15"
set label 2 say_fit(2, room, 12) at screen left / width, \
    1 - (bottom - panel_height - panel_head + 38) / height noenhanced font ",12" tc rgb "#444444"
set label 6 say_fit(3, room, 12) at screen left / width, \
    1 - (bottom - panel_height - panel_head + 54) / height noenhanced font ",12" tc rgb "#444444"
set label 3 (p == panels ? fit(text[texts], width - 30, 11) : "") at screen 16.0 / width, 16.0 / height \
    noenhanced font ",11" tc rgb "#555555"
set label 4 (column == 0 ? y_name : "") at screen (left - panel_edge + 11) / width, \
    1 - (bottom - panel_height / 2.0) / height rotate by 90 center noenhanced font ",13"
set label 5 x_name at screen (left + right) / (2 * width), 1 - (bottom + 45) / height center \
    noenhanced font ",13"
