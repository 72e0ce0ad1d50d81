/**
 * The sending half of a queue pair. {@link dev.rackcall.verbs.soft.requester.Requester} posts to a {@code SendQueue},
 * which writes frames to a {@link dev.rackcall.verbs.soft.requester.RequesterLink}; {@code AnswerReader} handles the
 * answers and completes the requests.
 */
package dev.rackcall.verbs.soft.requester;
