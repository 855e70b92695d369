import { imagePart } from '../../client/src/images.ts'
import type {
  InputImage,
  InputText,
  Message,
  MessagePart,
  PageTools,
  PendingAction,
  Session,
  SessionState,
  ToolPart,
  TurnInput,
} from '../../client/src/index.ts'
import { type ImageUrls, urlOf } from './image-url.ts'

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

interface GivenPart {
  readonly type: string
  readonly text?: unknown
  readonly image?: unknown
  readonly data?: unknown
  readonly mimeType?: unknown
  readonly filename?: unknown
}

/** A message that a person has written, with the files that they attached. */
interface NewMessage {
  readonly content: readonly GivenPart[]
  readonly attachments?: readonly { readonly content: readonly GivenPart[] }[] | undefined
}

interface Attached {
  readonly id: string
  readonly type: 'image'
  readonly name: string
  readonly contentType: string
  readonly file: File
}

/** Attaches images to the message that is being written. */
interface AttachmentAdapter {
  accept: string
  add(state: { file: File }): Promise<Attached & { status: { type: 'requires-action'; reason: 'composer-send' } }>
  send(
    attachment: Pick<Attached, 'file'> & { id: string; name: string },
  ): Promise<Attached & { status: { type: 'complete' }; content: { type: 'image'; image: string }[] }>
  remove(): Promise<void>
}

/** What `useExternalStoreRuntime` of `@assistant-ui/react` takes. */
export interface AssistantUiStore {
  readonly messages: readonly MessageLike[]
  readonly convertMessage: (message: MessageLike) => MessageLike
  readonly isRunning: boolean
  readonly isSendDisabled: boolean
  readonly isLoading: boolean
  readonly onNew: (message: NewMessage) => Promise<void>
  readonly adapters: { readonly attachments: AttachmentAdapter }
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
export const assistantUiStore = (
  session: Session,
  state: SessionState,
  { functions, images = new Map() }: { readonly functions?: PageTools | undefined; readonly images?: ImageUrls } = {},
): AssistantUiStore => {
  const { id, messages, approvals, run, connection } = state
  const isFailed = messages.at(-1)?.status === 'failed'
  return {
    messages: messages.map((message) => shownOf(message, { approvals, functions, images })),
    convertMessage: asItIs,
    isRunning: run.status === 'sending' || run.status === 'in_progress',
    isSendDisabled: run.status === 'paused',
    isLoading: id !== null && connection === 'connecting' && messages.length === 0,
    onNew: async (message) => void (await session.send(await inputOf(message))),
    adapters: { attachments },
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

const inputOf = async ({ content, attachments: files = [] }: NewMessage): Promise<TurnInput> => {
  const given = [...content, ...files.flatMap((file) => file.content)]
  const parts = await Promise.all(given.map(inputPart))
  const texts = parts.flatMap((part) => (part.type === 'input_text' ? part.text : []))
  if (texts.length === parts.length) return texts.join('')
  return parts.filter((part) => part.type === 'input_image' || part.text)
}

const inputPart = async (part: GivenPart): Promise<InputText | InputImage> => {
  const { type, text, image, data, mimeType, filename } = part
  if (type === 'text') return { type: 'input_text', text: `${text}` }
  if (type === 'image') return imagePart(`${image}`)
  if (type === 'file' && /^image\//.test(`${mimeType}`))
    return imagePart(/^(data|https):/.test(`${data}`) ? `${data}` : `data:${mimeType};base64,${data}`)
  throw new TypeError(`A turn takes text and images, not ${filename ?? `a part of the type ${type}`}.`)
}

const attachedOf = (file: File, id: string): Attached => ({
  ...{ id, type: 'image', name: file.name, contentType: file.type, file },
})

const attachments: AttachmentAdapter = {
  accept: 'image/png,image/jpeg,image/webp,image/gif',
  add: async ({ file }) => ({
    ...attachedOf(file, crypto.randomUUID()),
    status: { type: 'requires-action', reason: 'composer-send' },
  }),
  send: async ({ file, id }) => {
    const { image_url: image = '' } = await imagePart(file)
    return { ...attachedOf(file, id), status: { type: 'complete' }, content: [{ type: 'image', image }] }
  },
  remove: async () => {},
}

/** The calls that wait, which of them a person decides about, and what is read of images. */
interface Waiting {
  readonly approvals: readonly PendingAction[]
  readonly functions: PageTools | undefined
  readonly images: ImageUrls
}

interface Shown extends Waiting {
  readonly message: MessageLike
}

/** What was shown of each message, so that one that has not changed stays the same object. */
const shown = new WeakMap<Message, Shown>()

const shownOf = (message: Message, waiting: Waiting): MessageLike => {
  const before = shown.get(message)
  const isSame = before?.approvals === waiting.approvals && before.functions === waiting.functions
  const isRead = before?.images === waiting.images || !message.parts.some(({ type }) => type === 'image')
  if (before !== undefined && isRead && (message.status !== 'paused' || isSame)) return before.message
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

const partOf = (part: MessagePart, id: string, { approvals, functions, images }: Waiting): PartLike => {
  if (part.type === 'text' || part.type === 'reasoning') return part
  if (part.type === 'image') return { type: 'image', image: urlOf(part, images) ?? unread }
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

/** The address of an image that is not read yet: an empty one. */
const unread = 'data:,'

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
