/* check_fake_empty.c: a shared object without any symbol that is asked for. */
int check_fake_empty(void);

int check_fake_empty(void)
{
    return 0;
}
