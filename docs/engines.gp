# To make it again, in this folder: gnuplot engines.gp
reset
set encoding utf8
set terminal svg size 960,400 noenhanced font 'sans-serif,12' background rgb 'white'
set output 'engines.svg'
set datafile separator tab
unset key
set border 3 linecolor rgb '#888888'
set tics nomirror out scale 0.5 textcolor rgb '#333333'
set grid ytics linetype 1 linecolor rgb '#E2E2E2' linewidth 1
set label 1 'One scenario on relay and on netem, both in user-mode Linux' at screen 0.01667,0.95 left font 'sans-serif,15' front
# the two colours of a pair in results/palette.c, luminance 51 and 165
set object 1 rectangle from screen 0.01667,0.875 to screen 0.04375,0.905 fillcolor rgb '#332288' fillstyle solid 1 noborder
set label 2 'relay' at screen 0.05208,0.89 left font 'sans-serif,12' front
set object 2 rectangle from screen 0.11,0.875 to screen 0.13708,0.905 fillcolor rgb '#66BBDD' fillstyle solid 1 noborder
set label 3 'netem' at screen 0.14542,0.89 left font 'sans-serif,12' front
set label 4 'thin lines: from the shortest to the longest exchange' at screen 0.21,0.89 left font 'sans-serif,12' front
set style fill solid 1 noborder
set boxwidth 0.34
stats 'engines.dat' using 5 nooutput
set xrange [-0.6:STATS_records - 0.4]
set yrange [0:*]
set xtics scale 0
# two words, two lines
name(s) = strstrt(s, '-') ? s[1:strstrt(s, '-')]."\n".s[strstrt(s, '-') + 1:*] : s
set bmargin at screen 0.15
set tmargin at screen 0.80
set multiplot
set lmargin at screen 0.075
set rmargin at screen 0.49
set ylabel 'mean time of an exchange, ms'
plot 'engines.dat' using ($0-0.18):2:xtic(name(strcol(1))) with boxes linecolor rgb '#332288', \
	'' using ($0+0.18):6 with boxes linecolor rgb '#66BBDD', \
	for [k=0:3] 'engines.dat' using ($0 + (k % 2 ? 0.18 : -0.18)):(column(k % 2 ? 7 : 3)):(0):(column(k % 2 ? 8 : 4) - column(k % 2 ? 7 : 3)) \
		with vectors nohead linecolor rgb (k < 2 ? '#FFFFFF' : '#000000') linewidth (k < 2 ? 5 : 1.5)
unset label
unset object
set lmargin at screen 0.575
set rmargin at screen 0.985
set yrange [0:100]
set ylabel 'useful work, %'
plot 'engines.dat' using ($0-0.18):5:xtic(name(strcol(1))) with boxes linecolor rgb '#332288', \
	'' using ($0+0.18):9 with boxes linecolor rgb '#66BBDD'
unset multiplot
