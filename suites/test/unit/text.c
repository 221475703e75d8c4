/* text.c: hostile text in each form of output. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "command/command.h"
#include "text/text.h"

static char *written(enum text_form form, const char *text)
{
    char *words = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&words, &bytes);

    cr_assert_not_null(file);
    text_write(file, form, text, SIZE_MAX);
    fclose(file);
    return words;
}

static const struct {
    const char *text, *as[TEXT_FORMS]; /* NULL: as TEXT_PLAIN */
} samples[] = {
    {"", {"", "", ""}},
    {"virt:2, 3 %s",
     {"virt:2, 3 %s", "virt:2, 3 %s", "virt:2, 3 %s", "virt:2, 3 %25s", "virt%3A2%2C 3 %25s"}},
    {"caf\u00e9 \u4e2d \U0001f600",
     {"caf\u00e9 \u4e2d \U0001f600", "caf\u00e9 \u4e2d \U0001f600", "caf\u00e9 \u4e2d \U0001f600"}},
    {"<b>'\"&", {"<b>'\"&", "&lt;b&gt;&#39;&quot;&amp;", "&lt;b&gt;'\"&amp;"}},
    {"]]><!-- -->", {"]]><!-- -->", "]]&gt;&lt;!-- --&gt;", "\\]\\]&gt;&lt;\\!-- --&gt;"}},
    {"[x](y) `z` a|b", {"[x](y) `z` a|b", "[x](y) `z` a|b", "\\[x\\](y) \\`z\\` a\\|b"}},
    {"https://h/ HTTP://h",
     {"https://h/ HTTP://h", "https://h/ HTTP://h", "https:<!-- -->//h/ HTTP:<!-- -->//h", NULL,
      "https%3A//h/ HTTP%3A//h"}},
    {"www.h Www.h", {"www.h Www.h", "www.h Www.h", "www<!-- -->.h Www<!-- -->.h"}},
    {"@name a@h #12 GH-3",
     {"@name a@h #12 GH-3", "@name a@h #12 GH-3",
      "@<!-- -->name a@<!-- -->h \\#<!-- -->12 GH<!-- -->-3"}},
    /* soft hyphen, Arabic letter mark, zero width, direction, joiner, byte order mark, tag */
    {"a\u00adb", {"a<U+00AD>b", "a&lt;U+00AD&gt;b", "a&lt;U+00AD&gt;b"}},
    {"\u061c", {"<U+061C>", "&lt;U+061C&gt;", "&lt;U+061C&gt;"}},
    {"\u200b\u200f",
     {"<U+200B><U+200F>", "&lt;U+200B&gt;&lt;U+200F&gt;", "&lt;U+200B&gt;&lt;U+200F&gt;"}},
    {"\u202a\u202e",
     {"<U+202A><U+202E>", "&lt;U+202A&gt;&lt;U+202E&gt;", "&lt;U+202A&gt;&lt;U+202E&gt;"}},
    {"\u2060\u2069",
     {"<U+2060><U+2069>", "&lt;U+2060&gt;&lt;U+2069&gt;", "&lt;U+2060&gt;&lt;U+2069&gt;"}},
    {"\ufeff", {"<U+FEFF>", "&lt;U+FEFF&gt;", "&lt;U+FEFF&gt;"}},
    {"\U000e0000\U000e007f",
     {"<U+E0000><U+E007F>", "&lt;U+E0000&gt;&lt;U+E007F&gt;", "&lt;U+E0000&gt;&lt;U+E007F&gt;"}},
    /* Arabic number sign, private use, a plane without characters */
    {"\u0600\ue000\U00100000",
     {"<U+0600><U+E000><U+100000>", "&lt;U+0600&gt;&lt;U+E000&gt;&lt;U+100000&gt;",
      "&lt;U+0600&gt;&lt;U+E000&gt;&lt;U+100000&gt;"}},
    /* characters that Unicode has not assigned */
    {"\u08c8\u2427\U000e1000\U0001fc00\U00031350",
     {"\u08c8\u2427<U+E1000><U+1FC00><U+31350>",
      "\u08c8\u2427&lt;U+E1000&gt;&lt;U+1FC00&gt;&lt;U+31350&gt;",
      "\u08c8\u2427&lt;U+E1000&gt;&lt;U+1FC00&gt;&lt;U+31350&gt;"}},
    {"\uffff", {"<U+FFFF>", "&lt;U+FFFF&gt;", "&lt;U+FFFF&gt;"}},
    /* controls, C1, and invalid UTF-8: a surrogate, an overlong form, a cut character */
    {"\x1b[0m\n\x7f\xc2\x9b", {"?[0m???", "?[0m???", "?\\[0m???"}},
    {"\xed\xa0\x80|\xc0\xaf|\xf4\x90\x80\x80|\xe4\xb8",
     {"???|??|????|??", "???|??|????|??", "???\\|??\\|????\\|??"}},
};

Test(text, every_form)
{
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; ++i) {
        for (int form = 0; form < TEXT_FORMS; ++form) {
            const char *as = samples[i].as[form] ? samples[i].as[form] : samples[i].as[TEXT_PLAIN];
            char *words = written((enum text_form)form, samples[i].text);

            cr_assert_str_eq(words, as, "sample %zu, form %d: %s", i, form, words);
            free(words);
        }
    }
}

/* RFC 4180 holds; a field has as many bytes as were asked for. */
/* A spreadsheet takes no field for a formula, and no field breaks the line. */
Test(text, field_of_csv)
{
    static const char *const rows[][2] = {{"", "\"\""},
                                          {"a, b", "\"a, b\""},
                                          {"\"a\"\"b", "\"\"\"a\"\"\"\"b\""},
                                          {"=1+1", "\"'=1+1\""},
                                          {"-x", "\"'-x\""},
                                          {"@x", "\"'@x\""},
                                          {"+\"", "\"'+\"\"\""},
                                          {"a\r\n\tb\x1b", "\"a? ?b?\""},
                                          {"\xff\u202e", "\"?<U+202E>\""}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        char *words = NULL;
        size_t bytes = 0;
        FILE *file = open_memstream(&words, &bytes);

        cr_assert_not_null(file);
        text_write_field(file, rows[i][0]);
        fclose(file);
        cr_assert_str_eq(words, rows[i][1]);
        free(words);
    }
}

Test(text, part_of_a_text)
{
    char *words = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&words, &bytes);

    text_write(file, TEXT_HTML, "a<b<c", 3);
    fclose(file);
    cr_assert_str_eq(words, "a&lt;b");
    free(words);
}

/* Every character of Unicode, and numbers that are none, are decoded as they are encoded by the
 * rule of the standard. */
Test(text, every_character)
{
    for (uint32_t code = 1; code < 0x110000; ++code) {
        const size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        static const unsigned first[] = {0, 0, 0xc0, 0xe0, 0xf0};
        char text[5] = "";
        uint32_t found = 0;

        for (size_t i = n; i-- > 1;)
            text[i] = (char)(0x80 | (code >> 6 * (n - 1 - i) & 0x3f));
        text[0] = (char)(first[n] | code >> 6 * (n - 1));
        if (code >= 0xd800 && code < 0xe000)
            cr_assert_eq(text_decode(text, &found), 0, "U+%04X", (unsigned)code);
        else
            cr_assert(text_decode(text, &found) == n && found == code, "U+%04X", (unsigned)code);
    }
}

/* A word of a list is found whole, wherever it stands. */
Test(text, word_of_a_list)
{
    cr_expect(text_has_word("dp", "dp"));
    cr_expect(text_has_word("plain,dp", "dp"));
    cr_expect(text_has_word("dp, ddp", "ddp"));
    cr_expect(text_has_word(",,dp ", "dp"));
    cr_expect_not(text_has_word("ddp,dpp,d", "dp"), "a part of a word");
    cr_expect_not(text_has_word("plain,dp", "plain,dp"), "two words");
    cr_expect_not(text_has_word("", "dp"));
    cr_expect_not(text_has_word("", ""));
}

Test(text, cleaned_in_place)
{
    char text[] = "a\tb\x1b\xc2\x85\xff\u202e\u200b\ue000\u00e9", same[] = "plain \u00e9";

    cr_assert_not(text_is_clean(text));
    text_clean(text, ' ');
    cr_assert_str_eq(text, "a b ?????\u00e9");
    cr_assert(text_is_clean(text));
    text_clean(same, '?');
    cr_assert_str_eq(same, "plain \u00e9");
}

/* Lines are broken at blanks only: a longer word, like a path, can be copied. */
Test(text, wrapped)
{
    char *words = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&words, &bytes);

    command_wrap(file, "aaaaaaa\u00e9\u00e9/\u202e", 0, 0, 8);
    command_wrap(file, "aaaaaaaa/bbb: no such  file in /cccccccc", 2, 1, 8);
    fclose(file);
    cr_assert_str_eq(
        words, "aaaaaaa\u00e9\u00e9/<U+202E>\naaaaaaaa/bbb:\n no such\n file in\n /cccccccc\n",
        "%s", words);
    free(words);
}
