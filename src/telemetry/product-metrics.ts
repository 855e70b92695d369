import { CounterSeries, DurationSeries } from './series.ts'

/** Metrics of the product in plain numbers; /metrics shows each under its own name. */
export class ProductMetrics {
  readonly turns = new CounterSeries('troupe_turns_total', 'Ended turns, by outcome.', ['outcome'])
  readonly turnDuration = new DurationSeries(
    'troupe_turn_duration_seconds',
    'Duration of turns in seconds, including pauses.',
    ['outcome'],
  )
  readonly runs = new CounterSeries('troupe_runs_total', 'Ended runs, by outcome.', ['outcome'])
  readonly runDuration = new DurationSeries(
    'troupe_run_duration_seconds',
    'Duration of runs in seconds, including time in the queue.',
    ['outcome'],
  )
  readonly deliveries = new CounterSeries('troupe_webhook_attempts_total', 'Webhook delivery attempts, by outcome.', [
    'outcome',
  ])
  readonly effects = new CounterSeries('troupe_effects_total', 'Ended effects, by name and outcome.', [
    'effect',
    'outcome',
  ])
  readonly effectDuration = new DurationSeries('troupe_effect_duration_seconds', 'Duration of effects in seconds.', [
    'effect',
  ])
  readonly commitDuration = new DurationSeries(
    'troupe_commit_duration_seconds',
    'Time until a commit is durable, in seconds.',
  )
  readonly reminderLag = new DurationSeries(
    'troupe_reminder_lag_seconds',
    'Delay of the delivery of reminders, in seconds.',
  )
  readonly calls = new CounterSeries('troupe_model_calls_total', 'Model calls, by outcome.', [
    'provider',
    'model',
    'outcome',
  ])
  readonly callDuration = new DurationSeries(
    'troupe_model_call_duration_seconds',
    'Duration of model calls in seconds.',
    ['provider', 'model'],
  )
  readonly firstByte = new DurationSeries(
    'troupe_model_first_byte_seconds',
    'Time to the first byte of a model call, in seconds.',
    ['provider', 'model'],
  )
  readonly tokens = new CounterSeries('troupe_model_tokens_total', 'Tokens of model calls, by direction.', [
    'provider',
    'model',
    'direction',
  ])
  readonly cost = new CounterSeries('troupe_model_cost_usd_total', 'Cost of model calls with a known price, in USD.', [
    'provider',
    'model',
  ])
  readonly fallbacks = new CounterSeries(
    'troupe_model_retries_total',
    'Retries and fallbacks: attempts at providers after the first.',
    ['provider', 'model'],
  )
  readonly toolCalls = new CounterSeries('troupe_tool_calls_total', 'Ended calls of tools, by outcome.', [
    'kind',
    'outcome',
  ])
  readonly toolDuration = new DurationSeries(
    'troupe_tool_call_duration_seconds',
    'Duration of calls of tools in seconds.',
    ['kind'],
  )
  readonly outgoing = new CounterSeries(
    'troupe_outgoing_requests_total',
    'Requests to hosts that customers name (tools, webhooks, MCP servers, pages …), by kind and outcome.',
    ['kind', 'outcome'],
  )
  readonly outgoingDuration = new DurationSeries(
    'troupe_outgoing_request_duration_seconds',
    'Time until an outgoing request has a response or fails, in seconds.',
    ['kind'],
  )
  readonly outgoingUnread = new CounterSeries(
    'troupe_outgoing_unread_responses_total',
    'Responses to outgoing requests that were not read to their end, by kind and reason.',
    ['kind', 'reason'],
  )
  readonly refusedLogins = new CounterSeries('troupe_refused_logins_total', 'Failed logins to the console.')

  readonly counters = [
    ...[this.turns, this.runs, this.deliveries, this.effects, this.calls],
    ...[this.tokens, this.cost, this.fallbacks, this.refusedLogins],
    ...[this.outgoing, this.outgoingUnread, this.toolCalls],
  ]
  readonly durations = [
    ...[this.turnDuration, this.runDuration, this.effectDuration, this.commitDuration],
    ...[this.reminderLag, this.callDuration, this.firstByte, this.outgoingDuration, this.toolDuration],
  ]
}
