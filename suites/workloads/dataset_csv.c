/* dataset_csv.c: the reader of CSV files. Every error names file, line and column. */
#include "dataset.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LINE_BYTES = 1 << 20, CELL_BYTES = 64, FIRST_ROWS = 1024 };

struct reader {
    FILE *file;
    struct dataset *data;
    int classes;         /* labels must be below */
    size_t table;        /* of dataset_want */
    size_t want_columns; /* 0: as many as line 1 has */
    bool header;         /* line 1 has names */
    size_t line;         /* 1.. */
    size_t capacity;     /* rows that there is room for */
    char *text;          /* the line, without its end */
    size_t length;
    struct dp_error *err;
};

static int csv_complain(const struct reader *r, size_t column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int csv_complain(const struct reader *r, size_t column, const char *format, ...)
{
    char what[120];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return dp_fail(r->err, DP_EINVAL, "%s:%zu:%zu: %s", r->data->path, r->line, column, what);
}

/* The next line: 1, 0 at the end of the file, or an error. */
static int next_line(struct reader *r)
{
    int c;

    r->length = 0;
    ++r->line;
    while ((c = getc(r->file)) != EOF && c != '\n') {
        if (r->length == LINE_BYTES)
            return csv_complain(r, 1, "the line is longer than %d bytes", LINE_BYTES);
        r->text[r->length++] = (char)c;
    }
    if (ferror(r->file))
        return dp_fail(r->err, DP_EINVAL, "cannot read %s: %s", r->data->path, strerror(errno));
    if (c == EOF && r->length == 0)
        return 0;
    if (r->length > 0 && r->text[r->length - 1] == '\r')
        --r->length;
    r->text[r->length] = '\0';
    return 1;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* A cell without the blanks around it. Text with a byte of 0 in it goes on to its length. */
struct cell {
    const char *text;
    size_t length;
};

static struct cell trim(const char *text, size_t length)
{
    while (length > 0 && is_blank(*text)) {
        ++text;
        --length;
    }
    while (length > 0 && is_blank(text[length - 1]))
        --length;
    return (struct cell){text, length};
}

static bool is_word(const struct cell *cell, const char *const words[], size_t n)
{
    const char *text = cell->text;
    const size_t sign = *text == '-' || *text == '+';

    for (size_t i = 0; i < n; ++i)
        if (cell->length == sign + strlen(words[i]) &&
            strncasecmp(text + sign, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

/* As single precision has it, and with more digits: 0.9999999999 is no class 1. */
struct number {
    float value;
    double more;
};

/* True if all of the text is a number: digits, a point, an exponent. strtof accepts hexadecimal
 * numbers and more, which are not allowed here. */
static bool convert(const char *text, struct number *number)
{
    char *end;

    if (text[strspn(text, "0123456789+-.eE")] != '\0')
        return false;
    number->more = strtod(text, &end);
    errno = 0;
    number->value = strtof(text, &end);
    return end != text && *end == '\0';
}

static int csv_read_number(const struct reader *r, size_t column, struct cell cell,
                           struct number *number)
{
    static const char *const infinite[] = {"nan", "inf", "infinity"};
    const int shown = cell.length > 40 ? 40 : (int)cell.length;
    char copy[CELL_BYTES];

    if (cell.length == 0)
        return csv_complain(r, column, "the cell is empty");
    if (memchr(cell.text, '\0', cell.length))
        return csv_complain(r, column, "a byte is 0: the file is not text");
    if (is_word(&cell, infinite, sizeof infinite / sizeof infinite[0]))
        return csv_complain(r, column, "'%.*s' is not a finite number", shown, cell.text);
    if (cell.length >= sizeof copy)
        return csv_complain(r, column, "'%.*s'... is longer than %zu characters", shown, cell.text,
                            sizeof copy - 1);
    memcpy(copy, cell.text, cell.length);
    copy[cell.length] = '\0';
    if (!convert(copy, number))
        return csv_complain(r, column, "'%.*s' is not a number%s", shown, cell.text,
                            r->line == 1 ? " (for a first line of names say --header)" : "");
    if (!isfinite(number->value) || (errno == ERANGE && number->value == 0))
        return csv_complain(r, column, "'%.*s' is too %s for single precision", shown, cell.text,
                            number->value == 0 ? "small" : "large");
    return 0;
}

static int read_feature(const struct reader *r, size_t column, struct cell cell, float *feature)
{
    const int shown = cell.length > 40 ? 40 : (int)cell.length;
    struct number number = {0};
    const int status = csv_read_number(r, column, cell, &number);

    *feature = number.value;
    if (status || r->table == 0)
        return status;
    if (number.more >= 0 && number.more < (double)r->table && number.more == floor(number.more))
        return 0;
    return csv_complain(r, column, "'%.*s' is not a row of the model's table, 0 to %zu", shown,
                        cell.text, r->table - 1);
}

static int read_class(const struct reader *r, size_t column, struct cell cell, int32_t *label)
{
    const int shown = cell.length > 40 ? 40 : (int)cell.length;
    struct number number = {0};
    int status;

    if ((status = csv_read_number(r, column, cell, &number)))
        return status;
    if (!(number.more >= 0 && number.more < r->classes && number.more == floor(number.more)))
        return csv_complain(r, column, "class '%.*s' is not a whole number from 0 to %d", shown,
                            cell.text, r->classes - 1);
    *label = (int32_t)number.more;
    return 0;
}

static int csv_make_room(struct reader *r)
{
    struct dataset *data = r->data;
    const size_t capacity = r->capacity == 0 ? FIRST_ROWS : 2 * r->capacity;
    float *feature;
    int32_t *label;

    if (data->rows < r->capacity)
        return 0;
    if (capacity > SIZE_MAX / sizeof *feature / data->features)
        return dp_fail(r->err, DP_ENOMEM, "%s: too many rows", r->data->path);
    if ((feature = realloc(data->feature, capacity * data->features * sizeof *feature)))
        data->feature = feature;
    if ((label = realloc(data->label, capacity * sizeof *label)))
        data->label = label;
    if (!feature || !label)
        return dp_fail(r->err, DP_ENOMEM, "%s: no memory for %zu rows", r->data->path, capacity);
    r->capacity = capacity;
    return 0;
}

/* Counts the columns of the first line; all others must have as many. */
static int count_columns(struct reader *r)
{
    size_t columns = 1;

    for (size_t i = 0; i < r->length; ++i)
        columns += r->text[i] == ',';
    if (columns < 2)
        return csv_complain(r, 1, "a line needs at least 2 columns, numbers and a class");
    if (columns > DATASET_MAX_COLUMNS)
        return csv_complain(r, DATASET_MAX_COLUMNS + 1, "more than %d columns",
                            DATASET_MAX_COLUMNS);
    r->data->features = (r->want_columns != 0 ? r->want_columns : columns) - 1;
    return 0;
}

static int read_row(struct reader *r)
{
    struct dataset *data = r->data;
    const size_t columns = data->features + 1;
    const char *at = r->text, *const end = r->text + r->length;
    int status;

    if ((status = csv_make_room(r)))
        return status;
    for (size_t column = 1;; ++column) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const struct cell cell = trim(at, (size_t)((comma != NULL ? comma : end) - at));

        status = column < columns
                     ? read_feature(r, column, cell,
                                    &data->feature[data->rows * data->features + column - 1])
                     : read_class(r, column, cell, &data->label[data->rows]);
        if (status)
            return status;
        if (column < columns && !comma)
            return csv_complain(r, column + 1, "the column is missing: the line has %zu of %zu",
                                column, columns);
        if (column == columns && comma)
            return csv_complain(r, column + 1, "the line has more than %zu columns", columns);
        if (column == columns)
            break;
        at = comma + 1;
    }
    if (data->label[data->rows] >= data->classes)
        data->classes = data->label[data->rows] + 1;
    ++data->rows;
    return 0;
}

/* A line of numbers is a row, which would be lost. */
static int check_header(const struct reader *r)
{
    const char *at = r->text, *const end = r->text + r->length;
    size_t columns = 1;
    bool names = false;

    for (;; ++columns) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const struct cell cell = trim(at, (size_t)((comma != NULL ? comma : end) - at));
        char copy[CELL_BYTES] = "";
        struct number number;

        memcpy(copy, cell.text, cell.length < sizeof copy ? cell.length : 0);
        names = names || !convert(copy, &number);
        if (!comma)
            break;
        at = comma + 1;
    }
    if (!names)
        return csv_complain(r, 1, "all cells are numbers: a row, not names; leave out --header");
    if (r->want_columns != 0 && columns != r->want_columns)
        return csv_complain(r, 1, "the line has %zu names, the model takes %zu columns", columns,
                            r->want_columns);
    return 0;
}

static int first_line(struct reader *r)
{
    int status = 0;

    if (strncmp(r->text, "\xef\xbb\xbf", 3) == 0)
        return csv_complain(r, 1, "a byte order mark has no place here: save it as UTF-8 without");
    if ((status = count_columns(r)))
        return status;
    return r->header ? check_header(r) : read_row(r);
}

static int read_rows(struct reader *r)
{
    int status;

    while ((status = next_line(r)) == 1) {
        if (trim(r->text, r->length).length == 0)
            return csv_complain(r, 1, "the line is empty");
        if ((status = r->line == 1 ? first_line(r) : read_row(r)))
            return status;
    }
    if (status == 0 && r->data->rows == 0)
        return csv_complain(r, 1,
                            r->line > 1 ? "there is no row after the names" : "the file is empty");
    return status;
}

int dataset_read_csv(FILE *file, const char *name, const struct dataset_want *want,
                     struct dataset *data, struct dp_error *err)
{
    struct reader r = {.file = file,
                       .data = data,
                       .classes = want->classes != 0 ? want->classes : DATASET_MAX_CLASSES,
                       .table = want->table,
                       .header = want->header,
                       .want_columns = want->features != 0 ? want->features + 1 : 0,
                       .text = malloc(LINE_BYTES + 1),
                       .err = err};
    int status;

    *data = (struct dataset){.rows = 0};
    const size_t length = strlen(name), most = sizeof data->path - 4;

    snprintf(data->name, sizeof data->name, "%s", name);
    snprintf(data->path, sizeof data->path, "%s%s", length > most ? "..." : "",
             length > most ? name + length - most : name);
    if (!r.text)
        return dp_fail(err, DP_ENOMEM, "no memory to read %s", data->path);
    status = read_rows(&r);
    free(r.text);
    /* A class that this file does not have may come in another one of that model. */
    if (want->classes != 0)
        data->classes = want->classes;
    data->table = want->table;
    if (status)
        return status;
    dataset_measure(data);
    unsigned char seen[(DATASET_MAX_CLASSES + 7) / 8] = {0}; /* a bit for each */

    for (size_t i = 0; i < data->rows; ++i)
        seen[data->label[i] / 8] |= (unsigned char)(1U << data->label[i] % 8);
    for (int c = 0; c < data->classes; ++c) {
        if (seen[c / 8] >> c % 8 & 1)
            continue;
        if (data->gaps < DATASET_GAPS)
            data->gap[data->gaps] = c;
        ++data->gaps;
    }
    return 0;
}
