; SPDX-License-Identifier: MIT
(define (nest n) (if (= n 0) (read-char) (+ 1 (nest (- n 1)))))
(for-each nest '(5))
