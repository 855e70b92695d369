import type { WireObject } from '#outgoing/wire.ts'
import { arrayOf, objectOf, textOf } from '#outgoing/wire.ts'
import type { JsonObject } from '#specs/dsl/json.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ActorCaller, Caller } from '../call/caller.ts'
import type { GuardFinding, TurnStage } from '../call/guarding/guard-finding.ts'
import { blockedAnswer, mappedAnswer, mappedMessages, newSince } from './chat-texts.ts'
import { GuardReport } from './guard-report.ts'
import type { ActiveLocal, ActiveRemote, GuardSet, GuardStage } from './guard-set.ts'
import type { Found } from './local-checks.ts'
import type { RemoteChecks, RemoteVerdict } from './remote-checks.ts'
import { type Finding, findingsOf, isShort, replaced } from './scan.ts'
import { scanInWorker } from './worker/checks-in-worker.ts'

/** A text, of whom, and where in a turn it is new; null for one of an earlier turn or step. */
interface GuardText {
  readonly text: string
  readonly role: string
  readonly stage: TurnStage | null
}

/** Texts that were checked. */
interface Checked {
  /** The guardrail that blocks them; null for none. */
  readonly blockedBy: string | null
  readonly texts: readonly string[]
}

/** Messages of conversations, with the guardrails by which nothing was found in them. */
const clean = new WeakMap<object, GuardSet>()

/** The guardrails of one call: its input is checked once, and then its answer. */
export class GuardCall {
  readonly set: GuardSet
  readonly report: GuardReport
  readonly #remote: RemoteChecks
  readonly #caller: Caller | ActorCaller
  /** The request as the guardrails let it pass, from which an answer is repaired. */
  #body: WireObject = {}
  #isStructured = true

  constructor(set: GuardSet, remote: RemoteChecks, caller: Caller | ActorCaller) {
    this.set = set
    this.report = new GuardReport(set.names)
    this.#remote = remote
    this.#caller = caller
  }

  /** Whether answers are checked. */
  get checksOutput(): boolean {
    const { local, remote } = this.set.output
    return local.length + remote.length > 0
  }

  /**
   * Checks a chat before it is sent. Returns the same object if nothing was replaced; synchronously if no other server is
   * called, and the texts are short.
   *
   * @throws {ServiceError} `content_policy_violation`
   */
  input(body: WireObject): WireObject | Promise<WireObject> {
    this.#body = body
    const { local, remote } = this.set.input
    if (local.length + remote.length === 0) return body
    const messages = arrayOf(body.messages)
    const from = newSince(messages)
    const texts: GuardText[] = []
    const fresh = messages.filter((message) => clean.get(objectOf(message)) !== this.set)
    const recent = new Set(messages.slice(from))
    for (const message of fresh)
      mappedMessages([message], (text, role) => {
        texts.push({ text, role, stage: recent.has(message) ? (role === 'tool' ? 'tool_output' : 'input') : null })
        return text
      })
    const put = ({ texts: made }: Checked): WireObject => {
      if (made.every((text, at) => text === texts[at]?.text)) {
        if (this.report.findings.length === 0) for (const message of fresh) clean.set(objectOf(message), this.set)
        return body
      }
      let at = 0
      const changed = new Map(
        fresh.map((message) => [message, one(mappedMessages([message], (text) => made[at++] ?? text))]),
      )
      this.#body = { ...body, messages: messages.map((message) => changed.get(message) ?? message) }
      return this.#body
    }
    const checked = this.#checked('input', texts, () => newTexts(messages.slice(from)))
    return checked instanceof Promise ? checked.then((late) => put(this.#passed(late))) : put(this.#passed(checked))
  }

  /** Checks other texts that are sent to a model. @throws {ServiceError} `content_policy_violation` */
  async texts(all: readonly string[]): Promise<readonly string[]> {
    const texts = all.map((text): GuardText => ({ text, role: 'user', stage: 'input' }))
    return this.#passed(await this.#checked('input', texts, () => all)).texts
  }

  /**
   * Checks texts that a model made, other than the text of an answer: schemas do not apply. Returns null if they are
   * blocked; never throws, since they have been paid for.
   */
  async written(all: readonly string[]): Promise<readonly string[] | null> {
    this.#isStructured = false
    const { choices } = await this.answer({ choices: all.map((text) => ({ text })) })
    const made = arrayOf(choices).map(objectOf)
    const isBlocked = all.length > 0 && made[0]?.finish_reason === 'content_filter'
    return isBlocked ? null : made.map(({ text }) => textOf(text))
  }

  /** Checks a whole answer. Returns the same object if nothing was found; never throws, since the answer has been paid for. */
  answer(completion: WireObject): WireObject | Promise<WireObject> {
    const texts: GuardText[] = []
    mappedAnswer(completion, (text) => {
      texts.push({ text, role: 'assistant', stage: 'output' })
      return text
    })
    const put = ({ blockedBy, texts: made }: Checked): WireObject => {
      if (blockedBy !== null) return blockedAnswer(completion)
      let at = 0
      return mappedAnswer(completion, (text) => made[at++] ?? text)
    }
    const checked = this.#checked('output', texts, () => null)
    const { remote } = this.set.output
    if (!(checked instanceof Promise) && remote.length === 0) return put(checked)
    return Promise.resolve(checked).then(async (local) => {
      const made = put(local)
      return local.blockedBy === null ? await this.#judged(made) : made
    })
  }

  /** The header for the answer. @param isPending whether the answer has still to be checked. */
  headers(isPending: boolean): ReturnType<GuardReport['headers']> {
    const { local, remote } = this.set.output
    return this.report.headers(new Set(isPending ? [...local, ...remote].map(({ guardrail }) => guardrail) : []))
  }

  /** Notes what a check of a stream found. */
  note({ guardrail, spec }: ActiveLocal, stage: TurnStage | null, found: number): void {
    const on = stage === 'output' ? 'output' : 'input'
    this.#add({ guardrail, check: spec.type, on, outcome: outcomes[spec.action ?? 'block'], found }, stage)
  }

  /** @throws {ServiceError} `content_policy_violation` */
  #passed(checked: Checked): Checked {
    if (checked.blockedBy === null) return checked
    const message = `The guardrail '${checked.blockedBy}' blocked the request.`
    throw new ServiceError('content_policy_violation', { message })
  }

  #add(finding: GuardFinding, stage: TurnStage | null): void {
    this.report.add(finding, stage)
  }

  /** @param judged returns the texts that other models and servers judge; null for none. */
  #checked(
    on: GuardStage,
    texts: readonly GuardText[],
    judged: () => readonly string[] | null,
  ): Checked | Promise<Checked> {
    const { local, remote } = this.set[on]
    const ofEach = local.map(({ spec }) => (spec.type === 'injection' ? texts.filter(isForeign) : texts))
    const plain = ofEach.map((each) => each.map(({ text }) => text))
    const checks = local.map(({ check }) => check)
    const settled = (findings: readonly Finding[]): Checked => this.#settled(on, { texts, ofEach, findings })
    const others = (made: Checked): Checked | Promise<Checked> => {
      const sent = made.blockedBy === null && remote.length > 0 && on === 'input' ? judged() : null
      return sent === null || sent.length === 0 ? made : this.#others(made, sent, stageOf(texts))
    }
    if (isShort(checks, plain)) return others(settled(findingsOf(checks, plain)))
    return scanInWorker(
      local.map(({ spec }) => spec),
      plain,
      this.#caller.project,
    ).then(
      (findings) => others(settled(findings)),
      () => ({ blockedBy: this.#unchecked(on, texts.at(-1)?.stage ?? null), texts: texts.map(({ text }) => text) }),
    )
  }

  /** A text that could not be checked in time is blocked if any check would block it. */
  #unchecked(on: GuardStage, stage: TurnStage | null): string | null {
    const { local } = this.set[on]
    const hard = local.find(({ spec }) => spec.action !== 'flag') ?? null
    for (const { guardrail, spec } of local)
      this.#add({ guardrail, check: spec.type, on, outcome: hard === null ? 'failed' : 'blocked', found: 1 }, stage)
    return hard?.guardrail ?? null
  }

  #settled(
    on: GuardStage,
    all: {
      readonly texts: readonly GuardText[]
      readonly ofEach: readonly (readonly GuardText[])[]
      readonly findings: readonly Finding[]
    },
  ): Checked {
    let blockedBy: string | null = null
    const places = new Map<GuardText, Found[]>()
    for (const { check, text, found } of all.findings) {
      const [active, of] = [this.set[on].local[check], all.ofEach[check]?.[text]]
      if (active === undefined || of === undefined) continue
      this.note(active, of.stage, found.length)
      const { action = 'block' } = active.spec
      if (action === 'block') blockedBy ??= active.guardrail
      if (action === 'redact') places.set(of, [...(places.get(of) ?? []), ...found])
    }
    const texts = all.texts.map((each) => {
      const found = places.get(each)
      return found === undefined ? each.text : replaced(each.text, found)
    })
    return { blockedBy, texts }
  }

  /** Has the new texts of a request judged by other models and servers, after the checks of this process. */
  async #others(made: Checked, sent: readonly string[], stage: TurnStage): Promise<Checked> {
    const verdicts = await Promise.all(
      this.set.input.remote.map(async (active) => ({
        active,
        verdict: await this.#remote.judge(active.spec, { on: 'input', texts: sent, caller: this.#caller }),
      })),
    )
    let { blockedBy, texts } = made
    for (const { active, verdict } of verdicts) {
      const action = this.#verdict(active, stage, verdict)
      if (action === 'block') blockedBy ??= active.guardrail
      if (action === 'redact' && verdict.texts !== null) texts = exchanged(texts, sent, verdict.texts)
    }
    return { blockedBy, texts }
  }

  /** Has a whole answer judged by other models and servers, and its structure checked. */
  async #judged(completion: WireObject): Promise<WireObject> {
    let made = completion
    for (const active of this.set.output.remote) {
      const { spec } = active
      const texts: string[] = []
      mappedAnswer(made, (text) => {
        texts.push(text)
        return text
      })
      if (spec.type === 'json_schema' && !this.#isStructured) continue
      if (spec.type === 'json_schema') {
        const checked = await this.#structured(active, made)
        if (checked === null) return blockedAnswer(made)
        made = checked
        continue
      }
      const verdict = await this.#remote.judge(spec, { on: 'output', texts, caller: this.#caller })
      const action = this.#verdict(active, 'output', verdict)
      if (action === 'block') return blockedAnswer(made)
      const { texts: others } = verdict
      let at = 0
      if (action === 'redact' && others !== null) made = mappedAnswer(made, (text) => others[at++] ?? text)
    }
    return made
  }

  /** Returns an answer that matches the schema, if necessary a repaired one; null for one that is blocked. */
  async #structured(active: ActiveRemote, completion: WireObject): Promise<WireObject | null> {
    const { spec, guardrail } = active
    if (spec.type !== 'json_schema') return completion
    const choices = arrayOf(completion.choices).map(objectOf)
    const wrong = await Promise.all(choices.map((choice) => this.#wrong(spec.schema, choice)))
    const [first = null] = wrong.filter((each) => each !== null)
    if (first === null) return completion
    const found = { guardrail, check: spec.type, on: 'output', found: 1 } as const
    const [choice = {}] = choices
    const message = objectOf(choice.message)
    if (spec.repair && choices.length === 1 && choice.text === undefined) {
      const call = { body: this.#body, written: textOf(message.content), wrong: first, caller: this.#caller }
      const repaired = await this.#remote.repaired(spec.schema, call)
      if (repaired !== null) {
        const text = { text: repaired, role: 'assistant', stage: 'output' } as const
        const { blockedBy, texts } = await this.#checked('output', [text], () => null)
        this.#add({ ...found, outcome: blockedBy === null ? 'redacted' : 'blocked' }, 'output')
        const content = texts[0] ?? ''
        return blockedBy === null ? { ...completion, choices: [{ ...choice, message: { ...message, content } }] } : null
      }
    }
    this.#add({ ...found, outcome: spec.action === 'flag' ? 'flagged' : 'blocked' }, 'output')
    return spec.action === 'flag' ? completion : null
  }

  async #wrong(schema: JsonObject, { message, text }: WireObject): Promise<string | null> {
    const { content, tool_calls } = objectOf(message)
    if (arrayOf(tool_calls).length > 0) return null
    return this.#remote.errorsBy(schema, textOf(text) || textOf(content), this.#caller)
  }

  /** Notes a verdict. Returns the action that follows from it. */
  #verdict(
    { guardrail, spec }: ActiveRemote,
    stage: TurnStage,
    { flagged, failed, texts }: RemoteVerdict,
  ): 'block' | 'redact' | null {
    if (!flagged && !failed) return null
    const isOpen = failed && 'on_error' in spec && spec.on_error === 'allow'
    const declared = spec.action ?? 'block'
    // a hook that sends no texts leaves nothing to send
    const wanted = declared === 'redact' && texts === null ? 'block' : declared
    const action = failed ? (isOpen ? 'flag' : 'block') : wanted
    const on = stage === 'output' ? 'output' : 'input'
    this.#add({ guardrail, check: spec.type, on, outcome: isOpen ? 'failed' : outcomes[action], found: 1 }, stage)
    return action === 'flag' ? null : action
  }
}

const outcomes = { block: 'blocked', redact: 'redacted', flag: 'flagged' } as const

/** Whether a text was written by a user or a tool. */
const isForeign = ({ role }: GuardText): boolean => role !== 'assistant'

/** Where the new texts of a request are from: after a call of tools they are all of tools. */
const stageOf = (texts: readonly GuardText[]): TurnStage =>
  texts.some(({ stage }) => stage === 'input') || texts.every(({ stage }) => stage === null) ? 'input' : 'tool_output'

const newTexts = (messages: readonly unknown[]): readonly string[] => {
  const texts: string[] = []
  mappedMessages(messages, (text) => {
    texts.push(text)
    return text
  })
  return texts.filter((text) => text !== '')
}

const one = (messages: readonly unknown[]): unknown => messages[0]

/** Puts the texts of a hook in the places of those that it was sent. */
const exchanged = (texts: readonly string[], sent: readonly string[], made: readonly string[]): readonly string[] => {
  const by = new Map(sent.map((text, at) => [text, made[at] ?? text]))
  return texts.map((text) => by.get(text) ?? text)
}
