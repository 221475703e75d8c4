/* check_fake_empty.c: a shared object with nothing that anybody asks for. */
int check_fake_empty(void);

int check_fake_empty(void)
{
    return 0;
}
