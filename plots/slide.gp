# slide.gp: the panel of scaling.gp, large, with sentences above it: panel.gp breaks them into lines.
load 'scaling.gp'
