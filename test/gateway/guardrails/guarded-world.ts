import type { ServerResponse } from 'node:http'
import { type ActorCaller, actorCaller, type Caller } from '#gateway/call/caller.ts'
import { GuardCall } from '#gateway/guardrails/guard-call.ts'
import { guardSet, prepared } from '#gateway/guardrails/guard-set.ts'
import { RemoteChecks } from '#gateway/guardrails/remote-checks.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'
import { arrayOf, objectOf, type WireObject, textOf as wireText } from '#outgoing/wire.ts'
import type { GuardCheck } from '#specs/resources/gateway/guardrails.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'
import {
  type Came,
  type ChatWorld,
  delta,
  framesOf,
  goodAnswer,
  hello,
  json,
  openChatWorld,
} from '../chat/chat-world.ts'

/** Signing secret of the project. */
export const secret = `whsec_${Buffer.from('a secret of thirty-two bytes or so').toString('base64')}`

/** A guardrail with these checks. */
export const setOf = (specs: readonly GuardCheck[]) =>
  guardSet([
    { ...{ id: 'grl_1', version: 1, name: 'house', isDefault: true }, checks: atOnce(prepared('house', specs)) },
  ])

/** Chat with one guardrail, whose checks a test sets. */
export const openGuardedWorld = async () => {
  const state: { checks: readonly GuardCheck[] } = { checks: [] }
  const guard = openSsrfGuard({ allowedPrivateHosts: ['127.0.0.1'] })
  const remote: RemoteChecks = new RemoteChecks({
    guard: { request: (url, init) => guard.request(url, init) },
    signingSecrets: async () => [secret],
    complete: (call) => world.chats.complete(call),
    now: Date.now,
    newId: () => 'msg_1',
  })
  const guardCall = (
    caller: Caller | ActorCaller = actorCaller({ project: 'prj_1', tenant: null, user: null }, null),
  ) => new GuardCall(setOf(state.checks), remote, caller)
  const world: ChatWorld = await openChatWorld({
    caching: true,
    guardrails: { open: (caller) => (state.checks.length === 0 ? null : guardCall(caller)) },
  })
  const close = async () => {
    await world.close()
    await guard.close()
  }
  return { ...world, close, state, guardCall }
}

export const words = (action: 'block' | 'redact' | 'flag', on: 'input' | 'output' | 'both' = 'both'): GuardCheck => ({
  ...{ type: 'words', words: ['falcon', '隼計画'], action, on },
})
export const saying = (content: unknown): { readonly body: WireObject } => ({
  body: { ...hello, messages: [{ role: 'user', content }] },
})
export const answering = (content: string, more: WireObject = {}) =>
  json({
    ...goodAnswer,
    choices: [{ index: 0, message: { role: 'assistant', content, ...more }, finish_reason: 'stop' }],
  })
export const streaming = (...parts: readonly string[]) => {
  const frames = framesOf(
    delta({ role: 'assistant', content: '' }),
    ...parts.map((content) => delta({ content })),
    delta({}, 'stop'),
    '[DONE]',
  )
  return (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(frames)
}
export const headerOf = ({ whole, summary }: Came) =>
  (whole ?? summary)?.headers.find(([name]) => name === 'x-guardrails')?.[1]
export const choiceOf = ({ whole }: Came) => objectOf(arrayOf(whole?.completion.choices)[0])
export const textOf = (came: Came) => objectOf(choiceOf(came).message).content
export const messagesOf = (received?: { readonly body: WireObject }) => arrayOf(received?.body.messages).map(objectOf)
export const sentTexts = (world: Pick<ChatWorld, 'first'>) =>
  world.first.received.map((each) => messagesOf(each).at(-1)?.content)
const choicesOf = ({ chunks }: Came) => chunks.flatMap(({ choices }) => arrayOf(choices).map(objectOf))
export const deltasOf = (came: Came) => choicesOf(came).map((choice) => objectOf(choice.delta))
export const streamedText = (came: Came) =>
  deltasOf(came)
    .map(({ content }) => wireText(content))
    .join('')
export const finishes = (came: Came) => choicesOf(came).flatMap(({ finish_reason }) => finish_reason ?? [])
