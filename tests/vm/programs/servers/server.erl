%% SPDX-License-Identifier: MIT
%%
%% A server of Erlang and its clients, processes of one virtual machine: two clients make
%% N requests each over TCP.
-module(server).
-export([start/1]).

answer(Line) ->
	Words = lists:sort(binary:split(Line, <<" ">>, [global])),
	Counted = [[W, "=", integer_to_list(byte_size(W)), "\n"] || W <- Words],
	File = "/tmp/server-erl-" ++ os:getpid(),
	ok = file:write_file(File, Counted),
	{ok, Text} = file:read_file(File),
	[integer_to_list(erlang:crc32(Text)), "\n"].

serve(Socket) ->
	case gen_tcp:recv(Socket, 0) of
		{ok, Line} -> ok = gen_tcp:send(Socket, answer(Line)), serve(Socket);
		{error, closed} -> ok
	end.

client(Port, N, Parent) ->
	{ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {packet, line}, {active, false}]),
	lists:foreach(fun(I) ->
		Line = ["b a ", integer_to_list(I), " ", lists:duplicate(I rem 60, $x), "\n"],
		ok = gen_tcp:send(Socket, Line),
		{ok, _} = gen_tcp:recv(Socket, 0)
	end, lists:seq(1, N)),
	gen_tcp:close(Socket),
	Parent ! done.

start([Number]) ->
	N = list_to_integer(Number) div 2,
	{ok, Listen} = gen_tcp:listen(0, [binary, {packet, line}, {active, false}, {ip, {127, 0, 0, 1}}]),
	{ok, Port} = inet:port(Listen),
	Self = self(),
	[spawn(fun() -> client(Port, N, Self) end) || _ <- [1, 2]],
	[begin
		{ok, Socket} = gen_tcp:accept(Listen),
		gen_tcp:controlling_process(Socket, spawn(fun() -> serve(Socket) end))
	end || _ <- [1, 2]],
	[receive done -> ok end || _ <- [1, 2]],
	file:delete("/tmp/server-erl-" ++ os:getpid()),
	io:format("requests ~p~n", [2 * N]),
	halt(0).
