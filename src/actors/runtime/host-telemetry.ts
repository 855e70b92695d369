import type { Commit } from '#storage/ports.ts'

/** Identity of a span in W3C Trace Context. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  readonly sampled: boolean
}

/** Receives durations in ms. */
interface Durations {
  record(ms: number): void
}

/** Creates the spans of steps and effects. */
interface HostTracer {
  /** The current span; null outside any. */
  readonly current: TraceContext | null
  /** Runs `work` in a new span, which ends when the promise settles. */
  run<T>(
    name: string,
    options: { readonly parent?: TraceContext | null; readonly attributes?: Readonly<Record<string, string>> },
    work: () => Promise<T>,
  ): Promise<T>
}

/** Measures a host. Its methods never wait or throw. */
export interface HostTelemetry {
  readonly metrics: { readonly commitDuration: Durations; readonly reminderLag: Durations }
  /** null: traces are off. */
  readonly tracer: HostTracer | null
  /** The span in which the actor's effects run; undefined: that of the step that started them. */
  spanOf?(actor: string): TraceContext | undefined
  /** Called when a commit is durable, before its effects start. */
  committed(commit: Commit): void
  /**
   * Called when an effect has ended: `done` with a result, `ended` by its machine, `gone` with its actor, or `threw`.
   */
  effect(name: string, outcome: 'done' | 'ended' | 'gone' | 'threw', ms: number): void
}
