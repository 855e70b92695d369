/** Types for the part of the package that its test uses; the package is installed where that test runs, not for all. */
declare module '@ag-ui/client' {
  export interface ToolCall {
    readonly id: string
    readonly function: { readonly name: string; readonly arguments: string }
  }

  export type Message =
    | { id: string; role: 'user'; content: string | object[] }
    | { id: string; role: 'assistant'; content?: string; toolCalls?: ToolCall[] }
    | { id: string; role: 'reasoning'; content: string }
    | { id: string; role: 'tool'; toolCallId: string; content: string }

  export interface RunAgentInput {
    threadId: string
    runId: string
    messages: Message[]
    tools: object[]
    resume: { interruptId: string; status: 'resolved' | 'cancelled'; payload?: object }[]
    forwardedProps: object
  }

  export interface AgentSubscriber {
    onRunFinishedEvent?(params: { readonly event: { readonly outcome?: unknown } }): void
    onRunErrorEvent?(params: { readonly event: { readonly code?: string } }): void
  }

  interface Interrupt {
    readonly id: string
    readonly toolCallId?: string
    readonly metadata?: object
    readonly responseSchema?: { readonly required?: readonly string[] }
  }

  export class HttpAgent {
    constructor(config: {
      readonly url: string
      readonly headers?: Readonly<Record<string, string>>
      readonly fetch: (url: string, init: RequestInit) => Promise<Response>
      readonly threadId?: string
      readonly initialMessages?: Message[]
    })
    url: string
    threadId: string
    messages: Message[]
    state: { session_id: string }
    pendingInterrupts: Interrupt[]
    subscribe(subscriber: AgentSubscriber): void
    runAgent(input?: Partial<Omit<RunAgentInput, 'threadId' | 'messages'>>): Promise<{ readonly result: unknown }>
    abortRun(): void
    addMessage(message: Message): void
    setMessages(messages: Message[]): void
    setState(state: object): void
  }
}
