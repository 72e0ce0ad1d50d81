/**
 * The receiving half of a queue pair. A {@link dev.rackcall.verbs.soft.responder.ResponderLink} passes each request to
 * a {@code Responder}, which checks and performs it; an {@code AnswerRing} holds the
 * answers until they leave.
 */
package dev.rackcall.verbs.soft.responder;
