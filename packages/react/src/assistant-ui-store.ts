import type {
  Message,
  MessagePart,
  PageTools,
  PendingAction,
  Session,
  SessionState,
  ToolPart,
} from '../../client/src/index.ts'

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

type PartLike =
  | { readonly type: 'image'; readonly image: string }
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | {
      readonly type: 'source'
      readonly sourceType: 'url'
      readonly id: string
      readonly url: string
      readonly title: string
    }
  | {
      readonly type: 'tool-call'
      readonly toolCallId: string
      readonly toolName: string
      readonly args: { readonly [name: string]: Json }
      readonly result?: string
      readonly isError?: boolean
      /** A call that a person approves or rejects. */
      readonly approval?: { readonly id: string; readonly approved?: boolean; readonly resolution?: 'cancelled' }
      /** A call that waits for a connection, or for an input that its server requests. */
      readonly interrupt?: {
        type: 'human'
        payload: Pick<PendingAction, 'reason' | 'connection' | 'input'>
      }
    }

type StatusLike =
  | { readonly type: 'running' }
  | { readonly type: 'requires-action'; readonly reason: 'interrupt' }
  | { readonly type: 'complete'; readonly reason: 'stop' }
  | { readonly type: 'incomplete'; readonly reason: 'cancelled' | 'error'; readonly error?: string }

/** A message as assistant-ui shows it. */
export interface MessageLike {
  readonly id: string
  readonly role: Message['role']
  readonly content: readonly PartLike[]
  readonly status?: StatusLike
}

/** What `useExternalStoreRuntime` of `@assistant-ui/react` takes. */
export interface AssistantUiStore {
  readonly messages: readonly MessageLike[]
  readonly convertMessage: (message: MessageLike) => MessageLike
  readonly isRunning: boolean
  readonly isSendDisabled: boolean
  readonly isLoading: boolean
  readonly onNew: (message: { readonly content: readonly { readonly type: string }[] }) => Promise<void>
  readonly onCancel: () => Promise<void>
  /** Repeats the newest turn, if it failed. */
  readonly onReload?: () => Promise<void>
  readonly onRespondToToolApproval: (decision: {
    readonly approvalId: string
    readonly approved: boolean
  }) => Promise<void>
  /** Gives the output of a function of the page. */
  readonly onAddToolResult: (result: { readonly toolCallId: string; readonly result: unknown }) => Promise<void>
  /** Answers the input that the server of a tool requests. */
  readonly onResumeToolCall: (answer: { readonly toolCallId: string; readonly payload: unknown }) => void
}

/** What assistant-ui takes of a session in this state. The page runs its functions by itself, save those that need approval. */
export const assistantUiStore = (session: Session, state: SessionState, functions?: PageTools): AssistantUiStore => {
  const { id, messages, approvals, run, connection } = state
  const isFailed = messages.at(-1)?.status === 'failed'
  return {
    messages: messages.map((message) => shownOf(message, { approvals, functions })),
    convertMessage: asItIs,
    isRunning: run.status === 'sending' || run.status === 'in_progress',
    isSendDisabled: run.status === 'paused',
    isLoading: id !== null && connection === 'connecting' && messages.length === 0,
    onNew: async ({ content }) => void (await session.send(content.map(textIn).join(''))),
    onCancel: () => session.stop(),
    ...(isFailed && { onReload: async () => void (await session.retry()) }),
    onRespondToToolApproval: async ({ approvalId, approved }) =>
      void (await (approved ? session.approve(approvalId) : session.reject(approvalId))),
    onAddToolResult: async ({ toolCallId, result }) =>
      void (await session.approve(toolCallId, {
        output: typeof result === 'string' ? result : JSON.stringify(result),
      })),
    // a refusal is in the state of the session
    onResumeToolCall: ({ toolCallId, payload }) => void session.approve(toolCallId, { content: Object(payload) }),
  }
}

const asItIs = (message: MessageLike): MessageLike => message

const textIn = (part: { readonly type: string; readonly text?: unknown }): string => {
  if (part.type !== 'text') throw new TypeError(`A turn takes text only, not a part of the type ${part.type}.`)
  return `${part.text}`
}

/** The calls that wait, and which of them a person decides about. */
interface Waiting {
  readonly approvals: readonly PendingAction[]
  readonly functions: PageTools | undefined
}

interface Shown extends Waiting {
  readonly message: MessageLike
}

/** What was shown of each message, so that one that has not changed stays the same object. */
const shown = new WeakMap<Message, Shown>()

const shownOf = (message: Message, waiting: Waiting): MessageLike => {
  const before = shown.get(message)
  const isSame = before?.approvals === waiting.approvals && before.functions === waiting.functions
  if (before !== undefined && (message.status !== 'paused' || isSame)) return before.message
  const { id, role, parts } = message
  const content = parts.map((part, at) => partOf(part, `${id}_${at}`, waiting))
  const made = { id, role, content, ...(role === 'assistant' && { status: statusOf(message) }) }
  shown.set(message, { ...waiting, message: made })
  return made
}

const statusOf = ({ status, error }: Message): StatusLike => {
  if (status === 'completed') return { type: 'complete', reason: 'stop' }
  if (status === 'paused') return { type: 'requires-action', reason: 'interrupt' }
  if (status !== 'failed') return { type: 'running' }
  if (error?.code === 'cancelled') return { type: 'incomplete', reason: 'cancelled' }
  return { type: 'incomplete', reason: 'error', error: error?.message ?? '' }
}

const partOf = (part: MessagePart, id: string, { approvals, functions }: Waiting): PartLike => {
  if (part.type === 'text' || part.type === 'reasoning') return part
  if (part.type === 'image') return { type: 'image', image: part.image_url ?? '' }
  if (part.type === 'citation') return { type: 'source', sourceType: 'url', id, url: part.url, title: part.title }
  const { action_id, tool, output } = part
  return {
    type: 'tool-call',
    toolCallId: action_id,
    toolName: tool,
    args: Object(part.arguments),
    ...(output !== undefined && { result: output }),
    ...(part.status === 'rejected' && { result: 'rejected', isError: true }),
    ...waitOf(
      part,
      approvals.find(
        (each) => each.action_id === action_id && (each.run_by !== 'caller' || functions?.needsApproval(each)),
      ),
    ),
  }
}

/** What a call waits for, or how a person has decided about it. */
const waitOf = ({ action_id: id, status, resolution }: ToolPart, action: PendingAction | undefined) => {
  if (status === 'rejected') return { approval: { id, approved: false } }
  if (status === 'cancelled') return { approval: { id, resolution: 'cancelled' as const } }
  if (resolution === 'approved') return { approval: { id, approved: true } }
  if (action === undefined) return {}
  const { reason, connection, input } = action
  if (reason === 'approval_required') return { approval: { id } }
  const payload = { reason, ...(connection && { connection }), ...(input && { input }) }
  return { interrupt: { type: 'human' as const, payload } }
}
