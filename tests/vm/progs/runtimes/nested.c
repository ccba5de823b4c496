/* SPDX-License-Identifier: MIT */
/*
 * nested.c - native functions for programs in other languages
 *
 * One opens a file that does not exist, one calls the other language back: for
 * foreign function interfaces, and for Java (with jni.h).
 */
#include "record.h"

int opens(const char *name, int n)
{
	int result;

	RECORD_ENTER();
	result = record_open(name, n);
	RECORD_LEAVE();
	return result;
}

int back(int (*called)(int left, int n), int left, int n)
{
	int result;

	RECORD_ENTER();
	result = called(left, n);
	RECORD_LEAVE();
	return result;
}

#ifdef WITH_JAVA
#include <jni.h>

JNIEXPORT jint JNICALL Java_Nested_opens(JNIEnv *env, jclass class, jint n)
{
	jint result;

	(void)env;
	(void)class;
	RECORD_ENTER();
	result = record_open("java", n);
	RECORD_LEAVE();
	return result;
}

JNIEXPORT jint JNICALL Java_Nested_back(JNIEnv *env, jclass class, jint left, jint n)
{
	jmethodID go = (*env)->GetStaticMethodID(env, class, "go", "(II)I");
	jint result;

	RECORD_ENTER();
	result = (*env)->CallStaticIntMethod(env, class, go, left, n);
	RECORD_LEAVE();
	return result;
}
#endif
