-- SPDX-License-Identifier: MIT
import Control.Concurrent
import Data.List

main :: IO ()
main = do
  _ <- forkIO (threadDelay 100000000)
  line <- getLine
  print (sort line)
