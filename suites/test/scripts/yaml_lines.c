/* yaml_lines.c: prints every scalar of a YAML file as a line "document.key.0.key<TAB>value", so
 * that a shell can ask what is in it. A new line in a value is printed as "\n".
 *
 *   yaml_lines FILE
 *
 * Exit status: 0; 1 the file is no YAML, is empty, or has a key twice; 2 misuse. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { PATH = 512, DEPTH = 40 };

struct place {
    yaml_document_t *document;
    char path[PATH];
    int depth;
};

static bool visit(struct place *place, int id);

static bool yaml_lines_say(const char *words, const struct place *place)
{
    fprintf(stderr, "yaml_lines: %s: %s\n", place->path, words);
    return false;
}

static void print_scalar(const struct place *place, const yaml_node_t *node)
{
    printf("%s\t", place->path);
    for (const char *at = (const char *)node->data.scalar.value; *at != '\0'; ++at)
        if (*at == '\n')
            fputs("\\n", stdout);
        else
            putchar(*at);
    putchar('\n');
}

/* Goes to the element at the path with one name more. */
static bool descend(struct place *place, const char *name, int id)
{
    const size_t length = strlen(place->path);
    bool good;

    if (place->depth >= DEPTH || length + strlen(name) + 2 > PATH)
        return yaml_lines_say("too deep", place);
    snprintf(place->path + length, PATH - length, ".%s", name);
    ++place->depth;
    good = visit(place, id);
    --place->depth;
    place->path[length] = '\0';
    return good;
}

static const char *key_of(const struct place *place, const yaml_node_pair_t *pair)
{
    const yaml_node_t *key = yaml_document_get_node(place->document, pair->key);

    return key && key->type == YAML_SCALAR_NODE ? (const char *)key->data.scalar.value : NULL;
}

static bool visit_mapping(struct place *place, const yaml_node_t *node)
{
    const yaml_node_pair_t *first = node->data.mapping.pairs.start;

    for (const yaml_node_pair_t *pair = first; pair < node->data.mapping.pairs.top; ++pair) {
        const char *key = key_of(place, pair);

        if (!key)
            return yaml_lines_say("a key that is no scalar", place);
        for (const yaml_node_pair_t *other = first; other < pair; ++other)
            if (strcmp(key_of(place, other), key) == 0)
                return yaml_lines_say("a key is there twice", place);
        if (!descend(place, key, pair->value))
            return false;
    }
    return true;
}

static bool visit(struct place *place, int id)
{
    const yaml_node_t *node = yaml_document_get_node(place->document, id);
    char number[24];

    if (!node)
        return yaml_lines_say("nothing there", place);
    if (node->type == YAML_MAPPING_NODE)
        return visit_mapping(place, node);
    if (node->type == YAML_SCALAR_NODE) {
        print_scalar(place, node);
        return true;
    }
    for (long i = 0; i < node->data.sequence.items.top - node->data.sequence.items.start; ++i) {
        snprintf(number, sizeof number, "%ld", i);
        if (!descend(place, number, node->data.sequence.items.start[i]))
            return false;
    }
    return true;
}

static bool print_all(yaml_parser_t *parser)
{
    for (int n = 0;; ++n) {
        yaml_document_t document;
        struct place place = {.document = &document};
        bool good;

        if (!yaml_parser_load(parser, &document)) {
            fprintf(stderr, "yaml_lines: line %zu: %s\n", parser->problem_mark.line + 1,
                    parser->problem ? parser->problem : "not YAML");
            return false;
        }
        if (!yaml_document_get_root_node(&document)) {
            yaml_document_delete(&document);
            return n > 0 || yaml_lines_say("empty", &place);
        }
        snprintf(place.path, sizeof place.path, "%d", n);
        good = visit(&place, 1);
        yaml_document_delete(&document);
        if (!good)
            return false;
    }
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    yaml_parser_t parser;
    bool good;

    if (!file || !yaml_parser_initialize(&parser)) {
        fprintf(stderr, "usage: yaml_lines FILE\n");
        if (file)
            fclose(file);
        return 2;
    }
    yaml_parser_set_input_file(&parser, file);
    good = print_all(&parser);
    yaml_parser_delete(&parser);
    fclose(file);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
