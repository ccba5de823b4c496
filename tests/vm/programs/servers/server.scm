;; SPDX-License-Identifier: MIT
;;
;; A server of Guile and its client, a thread of the same process: N requests over a socket.
(use-modules (ice-9 rdelim) (ice-9 threads) (srfi srfi-1))

(define number (string->number (cadr (command-line))))
(define file (string-append "/tmp/server-scm-" (number->string (getpid))))

(define (answer line)
  (let ((words (sort (string-split line #\space) string<?)))
    (call-with-output-file file
      (lambda (port)
        (for-each (lambda (w) (format port "~a=~a~%" w (string-length w))) words)))
    (call-with-input-file file
      (lambda (port)
        (let loop ((sum 0))
          (let ((read (read-line port)))
            (if (eof-object? read) sum
                (loop (fold (lambda (c s) (modulo (+ (* 31 s) (char->integer c)) 1000003))
                            sum (string->list read))))))))))

(define pair (socketpair AF_UNIX SOCK_STREAM 0))
(define (serve port)
  (let loop ((done 0))
    (let ((line (read-line port)))
      (if (eof-object? line) done
          (begin
            (write (answer line) port)
            (newline port)
            (force-output port)
            (loop (+ done 1)))))))

(define client
  (call-with-new-thread
   (lambda ()
     (let ((port (cdr pair)))
       (do ((n 0 (+ n 1))) ((= n number) (close port))
         (format port "b a ~a ~a~%" n (make-string (modulo n 50) #\x))
         (force-output port)
         (read-line port))))))
(define done (serve (car pair)))
(join-thread client)
(delete-file file)
(format #t "requests ~a~%" done)
