import type { Call } from '#actors/call/call.ts'
import type { BytesResult, UseCasesOf } from '#actors/call/use-cases.ts'
import { callerOf } from '#gateway/call/caller.ts'
import type { ChatCall, ChatCalls, ChatOutcome } from '#gateway/call/chat-calls.ts'
import { orRefusal } from '#gateway/call/refusal.ts'
import type { Routes } from '#gateway/call/routes.ts'
import { appliedRules } from '#gateway/call/rules/applied-rules.ts'
import { chooseModel } from '#gateway/vision/default-model.ts'
import { imageParts } from '#gateway/vision/image-parts.ts'
import { imageSources } from '#gateway/vision/image-sources.ts'
import type { RemoteImages } from '#gateway/vision/remote-image.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import { given } from '../chat-parts.ts'
import { streamedChat } from '../streamed-chat.ts'
import { jsonInstruction, promptFor, type Task } from './vision-prompt.ts'
import { aboutOf, answerText, classificationIn, visionFrames } from './vision-result.ts'

export interface VisionParts extends RemoteImages {
  readonly chat: ChatCalls
  readonly routes: Routes
}

type VisionCall = Call<unknown, unknown, BodyOf<'vision.analyze'>>

/**
 * Image analysis with the caller's prompt or a preset. Every image is checked before a request is sent to a provider.
 */
export const visionUseCases = (parts: VisionParts): UseCasesOf<'vision'> => ({
  'vision.analyze': async (call) => answered(parts, call, analysis),
  'vision.describe': async (call) => answered(parts, call, description),
  'vision.ocr': async (call) => answered(parts, call, ocr),
  'vision.classify': async (call) => answered(parts, call, classification),
})

/** A task, and the view of its answer. */
interface VisionTask<T> {
  readonly task: Task
  readonly view: (outcome: ChatOutcome) => T
}

const analysis = {
  task: 'analyze',
  view: (outcome: ChatOutcome) => ({ analysis: answerText(outcome), ...aboutOf(outcome) }),
} as const

const description = {
  task: 'describe',
  view: (outcome: ChatOutcome) => ({ description: answerText(outcome), ...aboutOf(outcome) }),
} as const

const ocr = {
  task: 'ocr',
  view: (outcome: ChatOutcome) => ({ text: answerText(outcome), ...aboutOf(outcome) }),
} as const

const classification = {
  task: 'classify',
  view: (outcome: ChatOutcome) => {
    const raw = answerText(outcome)
    return { classification: classificationIn(raw), raw, ...aboutOf(outcome) }
  },
} as const

type Answered<T> = { readonly json: T; readonly headers: ChatOutcome['headers'] } | { readonly bytes: BytesResult }

const answered = async <T>(
  parts: VisionParts,
  call: VisionCall,
  { task, view }: VisionTask<T>,
): Promise<Answered<T>> => {
  const chatCall = await chatCallOf(parts, task, call)
  if (call.body.stream === true)
    return { bytes: await streamedChat(parts.chat, chatCall, { form: visionFrames(call.requestId) }) }
  const outcome = await parts.chat.complete(chatCall)
  return { json: view(outcome), headers: outcome.headers }
}

const chatCallOf = async (parts: VisionParts, task: Task, call: VisionCall): Promise<ChatCall> => {
  const { body, files, signal, scope } = call
  const sources = imageSources(body, files)
  const caller = callerOf(call)
  const operation = `vision.${task}`
  const chosen = (named: string | null) => chooseModel(parts.routes, scope.project, named)
  const judged = { model: body.model ?? '', messages: [{ role: 'user', content: body.prompt ?? '' }] }
  const rules = await appliedRules(parts.routes, { caller, operation, body: judged })
  const { served } = rules
  const ruled = served === null ? null : await orRefusal(() => chosen(served.model))
  const byRule = ruled instanceof ServiceError ? null : ruled
  const own = await orRefusal(() => chosen(body.model ?? null))
  const first = byRule ?? own
  if (first instanceof ServiceError) throw first
  const { route } = first
  const isOnly = served !== null && (own instanceof ServiceError || own.route.format !== route.format)
  const images = await imageParts(sources, route, { remote: parts, signal })
  const text = promptFor(task, body.prompt ?? null, images.length > 1)
  const asJson = task === 'classify' || body.response_format === 'json'
  const messages = [
    ...(asJson ? [{ role: 'system', content: jsonInstruction }] : []),
    { role: 'user', content: [{ type: 'text', text }, ...images] },
  ]
  return {
    ...{ caller, operation },
    rules: isOnly ? { ...rules, served: { ...served, isOnly } } : rules,
    need: 'vision',
    body: given({
      model: own instanceof ServiceError ? (body.model ?? first.model) : own.model,
      messages,
      max_tokens: body.max_tokens,
      temperature: body.temperature,
      response_format: asJson ? { type: 'json_object' } : undefined,
    }),
    signal,
  }
}
