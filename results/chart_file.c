/*
 * Scripts and data for gnuplot; see chart_file.h. Text from elsewhere stands in single quotes
 * only, in which gnuplot neither substitutes nor marks up, and the terminal is noenhanced.
 */
#include "results/chart_file.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "results/gnuplot.h"
#include "results/text.h"

#define TITLE_HEIGHT 34
#define LEGEND_ROW 20
#define LEGEND_LEFT 16
#define SWATCH 26
#define NAME_COLUMNS 32
#define LIMIT_S 60

static struct legend_entry *add_entry(struct legend *l, const char *text)
{
	struct legend_entry *e = &l->entries[l->n < LEGEND_MAX ? l->n++ : LEGEND_MAX - 1];

	snprintf(e->text, sizeof e->text, "%s", text);
	return e;
}

void legend_paint(struct legend *l, const struct paint *paint, const char *text)
{
	struct legend_entry *e = add_entry(l, text ? text : paint->label);

	e->paint = *paint;
	e->paint.height = 1;
}

void legend_lane(struct legend *l, const struct paint *paint)
{
	struct legend_entry *e = add_entry(l, paint->label);

	e->paint = *paint;
	e->paint.fill = "solid 1";
	e->paint.border = NULL;
}

void legend_stroke(struct legend *l, const struct stroke *stroke, const char *text)
{
	struct legend_entry *e = add_entry(l, text ? text : stroke->label);

	e->line = true;
	e->stroke = *stroke;
}

void legend_marked(struct legend *l, const struct stroke *stroke, int mark, const char *text)
{
	legend_stroke(l, stroke, text);
	l->entries[l->n - 1].mark = mark;
}

void legend_points(struct legend *l, const struct stroke *stroke, int mark, const char *text)
{
	legend_marked(l, stroke, mark, text);
	l->entries[l->n - 1].line = false;
}

/* Where entry i stands: x of its swatch; *row from 0. */
static double legend_place(const struct legend *l, int i, int *row)
{
	double x = LEGEND_LEFT;

	*row = 0;
	for (int k = 0; k <= i; k++) {
		double width = SWATCH + 8 + chart_text_width(l->entries[k].text) + 22;

		if (x > LEGEND_LEFT && x + width > CHART_WIDTH) {
			x = LEGEND_LEFT;
			++*row;
		}
		if (k < i)
			x += width;
	}
	return x;
}

int chart_top(const struct legend *l)
{
	int row = -1;

	if (l->n)
		legend_place(l, l->n - 1, &row);
	return TITLE_HEIGHT + (row + 1) * LEGEND_ROW + 12;
}

static double screen_x(double x)
{
	return x / CHART_WIDTH;
}

static double screen_y(const struct chart *c, double y)
{
	return 1 - y / c->height;
}

static void draw_mark(struct chart *c, const struct legend_entry *e, double x, double y)
{
	chart_add(c,
		"set label %d '' at screen %.5f,%.5f point pointtype %d pointsize 1 "
		"linecolor rgb '%s' linewidth %g front\n",
		++c->tag, screen_x(x), screen_y(c, y), e->mark, e->stroke.colour, e->stroke.width);
}

static void draw_paint(struct chart *c, const struct legend_entry *e, double x, double y)
{
	double half = 6 * e->paint.height;

	chart_add(c, "set object %d rectangle from screen %.5f,%.5f to screen %.5f,%.5f ", ++c->tag,
		screen_x(x), screen_y(c, y + half), screen_x(x + SWATCH), screen_y(c, y - half));
	chart_fill(c, &e->paint);
	chart_add(c, "\n");
}

static void draw_line(struct chart *c, const struct legend_entry *e, double x, double y)
{
	chart_add(c, "set arrow %d from screen %.5f,%.5f to screen %.5f,%.5f nohead ", ++c->tag,
		screen_x(x), screen_y(c, y), screen_x(x + SWATCH), screen_y(c, y));
	chart_line(c, &e->stroke);
	chart_add(c, "\n");
}

static void draw_entry(struct chart *c, const struct legend_entry *e, double x, double y)
{
	if (e->line)
		draw_line(c, e, x, y);
	if (e->mark)
		draw_mark(c, e, x + SWATCH / 2., y);
	else if (!e->line)
		draw_paint(c, e, x, y);
	chart_label(c, x + SWATCH + 8, y, "left", 12, e->text);
}

static int open_files(struct chart *c, struct error *err)
{
	_free_ char *script = memory_format("%s/%s.gp", c->dir, c->stem);
	_free_ char *data = memory_format("%s/%s.dat", c->dir, c->stem);

	c->script = fopen(script, "we");
	c->data = c->script ? fopen(data, "we") : NULL;
	if (!c->data)
		return error_sys(err, -errno, "cannot write the chart %s", script);
	return 0;
}

int chart_begin(struct chart *c, const char *dir, const char *stem, int height, const char *title,
	const struct legend *l, struct error *err)
{
	int r, row;

	*c = (struct chart){
		.dir = memory_string(dir), .stem = memory_string(stem), .height = height};
	r = open_files(c, err);
	if (r) {
		chart_end(c, err);
		return r;
	}
	chart_add(c,
		"# To make it again, in this folder: gnuplot %s.gp\n"
		"reset\n"
		"set encoding utf8\n"
		"set terminal svg size %d,%d noenhanced font 'sans-serif,12' background rgb "
		"'white'\n"
		"set output '%s.svg'\n"
		"set datafile separator tab\n"
		"set datafile missing 'NaN'\n"
		"unset key\n"
		"set border 3 linecolor rgb '#888888'\n"
		"set tics nomirror out scale 0.5 textcolor rgb '#333333'\n"
		"set grid xtics ytics linetype 1 linecolor rgb '#E2E2E2' linewidth 1\n",
		stem, CHART_WIDTH, height, stem);
	chart_label(c, LEGEND_LEFT, 20, "left", 15, title);
	for (int i = 0; i < l->n; i++) {
		double x = legend_place(l, i, &row);

		draw_entry(c, &l->entries[i], x, TITLE_HEIGHT + row * LEGEND_ROW + 10);
	}
	return 0;
}

int chart_end(struct chart *c, struct error *err)
{
	_free_ char *script = memory_format("%s.gp", c->stem);
	int r = c->data ? 0 : -EIO;

	if (c->script && fclose(c->script))
		r = error_sys(err, -errno, "cannot write %s/%s.gp", c->dir, c->stem);
	if (c->data && fclose(c->data))
		r = error_sys(err, -errno, "cannot write %s/%s.dat", c->dir, c->stem);
	if (!r)
		r = gnuplot_run(c->dir, script, LIMIT_S, err);
	if (r) {
		_free_ char *picture = memory_format("%s/%s.svg", c->dir, c->stem);

		remove(picture); /* half a picture is none */
	}
	free(c->dir);
	free(c->stem);
	*c = (struct chart){0};
	return r;
}

void chart_add(struct chart *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vfprintf(c->script, format, ap);
	va_end(ap);
}

void chart_data(struct chart *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vfprintf(c->data, format, ap);
	va_end(ap);
}

/* One line of at most NAME_COLUMNS columns; the caller's to free. */
static char *cut(const char *text)
{
	char *line = text_line(text), *end = line;
	int columns = 0;

	if (text_columns(line) <= NAME_COLUMNS)
		return line;
	for (; *end; end++)
		if ((*end & 0xc0) != 0x80 && ++columns == NAME_COLUMNS)
			break;
	*end = '\0';
	end = memory_format("%s\xe2\x80\xa6", line);
	free(line);
	return end;
}

/*
 * In the quotes in which nothing is evaluated. A quote of the text's own becomes the typographic
 * one: doubled, as the manual has it, gnuplot 5.4 takes one at the beginning for the end. Where
 * the text is a format, as the labels of tics are, its % are doubled.
 */
static void quote(struct chart *c, const char *text, bool format)
{
	fputc('\'', c->script);
	for (const char *p = text; *p; p++) {
		if (*p == '\'')
			fputs("\xe2\x80\x99", c->script);
		else
			fputs(*p == '%' && format ? "%%" : (char[]){*p, '\0'}, c->script);
	}
	fputc('\'', c->script);
}

void chart_quote(struct chart *c, const char *text)
{
	quote(c, text, false);
}

void chart_rows(struct chart *c, const char *const *names, size_t n)
{
	chart_add(c, "set yrange [%zu.5:-0.5]\nset grid noytics\nset ytics scale 0\nset ytics ()\n",
		n - 1);
	for (size_t i = 0; i < n; i++) {
		_free_ char *line = cut(names[i]);

		chart_add(c, "set ytics add (");
		quote(c, line, true);
		chart_add(c, " %zu)\n", i);
	}
}

void chart_number(struct chart *c, double value)
{
	if (isfinite(value))
		chart_data(c, "%.9g\t", value);
	else
		chart_data(c, "NaN\t");
}

void chart_frame(struct chart *c, int left, int right, int top, int bottom)
{
	chart_add(c,
		"set lmargin at screen %.5f\nset rmargin at screen %.5f\n"
		"set bmargin at screen %.5f\nset tmargin at screen %.5f\n",
		screen_x(left), screen_x(CHART_WIDTH - right), screen_y(c, c->height - bottom),
		screen_y(c, top));
}

void chart_label(struct chart *c, double x, double y, const char *align, int size, const char *text)
{
	_free_ char *line = text_line(text);

	chart_add(c, "set label %d ", ++c->tag);
	quote(c, line, false);
	chart_add(c, " at screen %.5f,%.5f %s font 'sans-serif,%d' front\n", screen_x(x),
		screen_y(c, y), align, size);
}

void chart_shade(struct chart *c, const struct span *span, const struct paint *paint)
{
	chart_add(c, "set object %d rectangle from first %.9g, graph 0 to first %.9g, graph 1 ",
		++c->tag, span->from_s, span->until_s);
	chart_fill(c, paint);
	chart_add(c, " behind\n");
}

void chart_bar(
	struct chart *c, const struct span *span, double y0, double y1, const struct paint *paint)
{
	chart_add(c,
		"set object %d rectangle from first %.9g, first %.9g to first %.9g, first %.9g ",
		++c->tag, span->from_s, y0, span->until_s, y1);
	chart_fill(c, paint);
	chart_add(c, " front\n");
}

void chart_fill(struct chart *c, const struct paint *paint)
{
	chart_add(c, "fillcolor rgb '%s' fillstyle %s ", paint->colour, paint->fill);
	if (paint->border)
		chart_add(c, "border linecolor rgb '%s'", paint->border);
	else
		chart_add(c, "noborder");
}

void chart_line(struct chart *c, const struct stroke *stroke)
{
	chart_add(c, "linecolor rgb '%s' linewidth %g dashtype %s", stroke->colour, stroke->width,
		stroke->dash);
}

double chart_text_width(const char *text)
{
	return 7 * text_columns(text);
}

int chart_names_margin(const char *const *names, size_t n)
{
	double widest = 0;

	for (size_t i = 0; i < n; i++) {
		_free_ char *line = cut(names[i]);

		widest = fmax(widest, chart_text_width(line));
	}
	return (int)widest + 20;
}

double chart_step(double range, int steps)
{
	double power = pow(10, floor(log10(range / steps))), part = range / steps / power;

	return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

const char *chart_rate_unit(double max_bps, double *size)
{
	*size = max_bps >= 1e9 ? 1e9 : max_bps >= 1e6 ? 1e6 : 1e3;
	return max_bps >= 1e9 ? "Gbit/s" : max_bps >= 1e6 ? "Mbit/s" : "kbit/s";
}
