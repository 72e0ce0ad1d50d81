/**
 * Tests of services with JUnit: {@link dev.rackcall.junit.RackcallExtension} gives each test a server and a channel in a
 * folder of their own and a clock for deadlines, and {@link dev.rackcall.junit.CallFaults} makes calls late, lets them wait or fail.
 */
package dev.rackcall.junit;
