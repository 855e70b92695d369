import { recordedCaller } from '#gateway/call/caller.ts'
import { arrayOf } from '#outgoing/wire.ts'
import { projectScope } from '#storage/index.ts'
import type { ChatRunRequest, RunListener } from '../chat-run-request.ts'

/** Maximum number of copies in progress in this process. */
const maxShadows = 16

/** Starts a call. */
type Run = (request: ChatRunRequest, listener: RunListener) => void

/**
 * Copies of calls to another model, whose answers no caller sees: they show what a model would cost, how long it would
 * take, and, in the log, what it would answer. The project is charged for them, so that they use up no limit of a tenant.
 */
export class ShadowCalls {
  readonly #run: Run
  #running = 0

  constructor(run: Run) {
    this.#run = run
  }

  /** Copies a call that has been answered, unless it has tools, is a line of a batch, or too many copies are in progress. */
  copy({ caller, body, need }: ChatRunRequest, model: string): void {
    if (caller.line !== undefined || hasTools(body) || this.#running >= maxShadows) return
    const { models: _models, memory: _memory, stream: _stream, stream_options: _options, ...rest } = body
    const recorded = recordedCaller(caller)
    const { project, requestId, tenant, externalUserId } = recorded
    const own = { scope: projectScope(project), tenant: null, externalUserId: null, requestId: `${requestId}:shadow` }
    // so that the texts are removed with their tenant
    const textsOf = { tenant, externalUserId }
    this.#running++
    const ended = (): void => void this.#running--
    const request: ChatRunRequest = {
      ...{
        caller: { ...recorded, ...own, textsOf, headers: undefined },
        operation: 'shadow',
        need,
        body: { ...rest, model },
      },
      // the body was checked, and its personal data replaced, as that of the call
      ...{ bytes: null, stream: false, translated: true, unguarded: true, reuse: 'never' },
    }
    this.#run(request, { ...silent, whole: ended, fail: ended })
  }
}

const hasTools = ({ tools, functions }: ChatRunRequest['body']): boolean =>
  arrayOf(tools).length + arrayOf(functions).length > 0

const silent: Omit<RunListener, 'whole' | 'fail'> = {
  takesFrames: false,
  begin: () => {},
  frames: () => true,
  chunk: () => true,
  end: () => {},
}
