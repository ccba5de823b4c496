<?php // SPDX-License-Identifier: MIT
function nest($n) { return $n ? nest($n - 1) : fgets(STDIN); }
array_map(function ($n) { return nest($n); }, [5]);
