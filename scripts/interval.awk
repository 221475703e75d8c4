# The median of n independent values, and its interval, for awk programs of scripts/. It is the sum
# of harness/numbers/stats.c: order statistics between which the median lies in at least 95 % of all cases.

# The median of x[1] .. x[n], which are sorted ascending.
function median(x, n)
{
    return n % 2 ? x[(n + 1) / 2] : (x[n / 2] + x[n / 2 + 1]) / 2
}

# The interval is x[rank] .. x[n + 1 - rank]. Below 6 values rank is 1: the range, and no interval.
function interval_rank(n, tail, term, rank)
{
    tail = term = 2 ^ -n
    for (rank = 1; 2 * (tail + term * (n - rank + 1) / rank) <= 0.05; rank++)
        tail += term *= (n - rank + 1) / rank
    return rank
}

# The verdict of sorted values about a limit that is "least" or "most": met or MISSED if the whole interval
# is on one side of it, else OPEN. Fewer than 6 have no interval, and no limit is met by a range.
function verdict(x, n, side, limit, rank, lo, hi)
{
    rank = interval_rank(n)
    lo = side == "least" ? x[rank] : -x[n + 1 - rank]
    hi = side == "least" ? x[n + 1 - rank] : -x[rank]
    limit = side == "least" ? limit : -limit
    if (n < 6)
        return "OPEN"
    return lo >= limit ? "met" : hi < limit ? "MISSED" : "OPEN"
}
