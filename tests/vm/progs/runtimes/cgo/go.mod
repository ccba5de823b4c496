// SPDX-License-Identifier: MIT
module cgo

go 1.19
