/*
 * See html.h. A picture is gnuplot's own output: it is passed through tag by tag, and only what
 * would clash with the next picture is changed.
 */
#include "results/html.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "results/text.h"

void html_text(FILE *out, const char *text)
{
	_free_ char *clean = text_utf8(text);

	for (const char *p = clean; *p; p++) {
		switch (*p) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			fputc((unsigned char)*p < 0x20 && !strchr("\n\t", *p) ? ' ' : *p, out);
		}
	}
}

void html_element(FILE *out, const char *tag, const char *text)
{
	fprintf(out, "<%s>", tag);
	html_text(out, text);
	fprintf(out, "</%s>\n", tag);
}

void html_table(FILE *out, const char *caption, const char *const *heads)
{
	fputs("<div class=\"wide\"><table><caption>", out);
	html_text(out, caption);
	fputs("</caption><thead><tr>", out);
	for (; *heads; heads++) {
		bool number = **heads == '>';

		fputs(number ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">", out);
		html_text(out, *heads + number);
		fputs("</th>", out);
	}
	fputs("</tr></thead><tbody>\n", out);
}

void html_table_end(FILE *out)
{
	fputs("</tbody></table></div>\n", out);
}

void html_row(FILE *out, ...)
{
	const char *cell;
	va_list ap;

	fputs("<tr>", out);
	va_start(ap, out);
	while ((cell = va_arg(ap, const char *))) {
		bool number = *cell == '>';

		fputs(number ? "<td class=\"n\">" : "<td>", out);
		html_text(out, cell + number);
		fputs("</td>", out);
	}
	va_end(ap);
	fputs("</tr>\n", out);
}

static char *read_file(const char *path)
{
	_fclose_ FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;

	if (!f)
		return NULL;
	if (getdelim(&text, &room, '\0', f) < 0) {
		free(text);
		errno = EIO;
		return NULL;
	}
	return text;
}

static size_t copy_prefixed(FILE *out, const char *p, const char *before, const char *prefix)
{
	fprintf(out, "%s%s", before, prefix);
	return strlen(before);
}

/* A tag from its '<' to its '>': definitions and references of ids get the prefix. */
static void copy_tag(FILE *out, const char *p, const char *end, const char *prefix)
{
	static const char *const places[] = {" id=\"", " id='", "url(#", "href='#", "href=\"#"};

	while (p < end) {
		size_t n = 0;

		for (size_t i = 0; !n && i < sizeof places / sizeof *places; i++)
			if (!strncmp(p, places[i], strlen(places[i])))
				n = copy_prefixed(out, p, places[i], prefix);
		if (!n) {
			fputc(*p, out);
			n = 1;
		}
		p += n;
	}
}

/* Past </name> when p is at <name>, else p: gnuplot names itself and its plots. */
static const char *skip_element(const char *p, const char *name)
{
	char close[32];
	const char *end;

	if (strncmp(p + 1, name, strlen(name)) || p[1 + strlen(name)] != '>')
		return p;
	snprintf(close, sizeof close, "</%s>", name);
	end = strstr(p, close);
	return end ? end + strlen(close) : p;
}

static void copy_picture(FILE *out, const char *p, const char *prefix)
{
	while (*p) {
		const char *past, *end;

		if (*p != '<') {
			fputc(*p++, out);
			continue;
		}
		past = skip_element(skip_element(p, "title"), "desc");
		end = strchr(p, '>');
		if (past == p && end) {
			copy_tag(out, p, end + 1, prefix);
			past = end + 1;
		}
		p = past > p ? past : p + 1;
	}
}

int html_picture(FILE *out, const char *path, const char *prefix, const char *name)
{
	_free_ char *text = read_file(path);
	const char *svg = text ? strstr(text, "<svg") : NULL;

	if (!text)
		return -errno;
	if (!svg || !strstr(svg, "</svg>"))
		return -EINVAL;
	fputs("<svg role=\"img\" aria-label=\"", out);
	html_text(out, name);
	fputc('"', out);
	copy_picture(out, svg + strlen("<svg"), prefix);
	return 0;
}
