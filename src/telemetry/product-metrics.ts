import { CounterSeries, DurationSeries } from './series.ts'

/** What the product does, in plain numbers; /metrics shows each under its own name. */
export class ProductMetrics {
  readonly turns = new CounterSeries('troupe_turns_total', 'Turns that ended, by outcome.', ['outcome'])
  readonly turnDuration = new DurationSeries('troupe_turn_duration_seconds', 'Seconds of a turn, pauses included.', [
    'outcome',
  ])
  readonly runs = new CounterSeries('troupe_runs_total', 'Runs that ended, by outcome.', ['outcome'])
  readonly runDuration = new DurationSeries('troupe_run_duration_seconds', 'Seconds of a run, its queue included.', [
    'outcome',
  ])
  readonly deliveries = new CounterSeries(
    'troupe_webhook_attempts_total',
    'Attempts to deliver webhooks, by outcome.',
    ['outcome'],
  )
  readonly effects = new CounterSeries('troupe_effects_total', 'Effects that ended, by name and outcome.', [
    'effect',
    'outcome',
  ])
  readonly effectDuration = new DurationSeries('troupe_effect_duration_seconds', 'Seconds of an effect.', ['effect'])
  readonly commitDuration = new DurationSeries('troupe_commit_duration_seconds', 'Seconds until a commit is durable.')
  readonly reminderLag = new DurationSeries('troupe_reminder_lag_seconds', 'Seconds a reminder was delivered late.')
  readonly calls = new CounterSeries('troupe_model_calls_total', 'Calls to models, by outcome.', [
    'provider',
    'model',
    'outcome',
  ])
  readonly callDuration = new DurationSeries('troupe_model_call_duration_seconds', 'Seconds of a call to a model.', [
    'provider',
    'model',
  ])
  readonly firstByte = new DurationSeries('troupe_model_first_byte_seconds', 'Seconds until a model says something.', [
    'provider',
    'model',
  ])
  readonly tokens = new CounterSeries('troupe_model_tokens_total', 'Tokens of models, by direction.', [
    'provider',
    'model',
    'direction',
  ])
  readonly cost = new CounterSeries('troupe_model_cost_usd_total', 'What calls cost, as far as prices are known.', [
    'provider',
    'model',
  ])
  readonly fallbacks = new CounterSeries('troupe_model_retries_total', 'Attempts at providers beyond the first.', [
    'provider',
    'model',
  ])
  readonly refusedLogins = new CounterSeries('troupe_refused_logins_total', 'Logins to the console that were refused.')

  readonly counters = [
    ...[this.turns, this.runs, this.deliveries, this.effects, this.calls],
    ...[this.tokens, this.cost, this.fallbacks, this.refusedLogins],
  ]
  readonly durations = [
    ...[this.turnDuration, this.runDuration, this.effectDuration, this.commitDuration],
    ...[this.reminderLag, this.callDuration, this.firstByte],
  ]
}
