/* Types that many pages name, so that none has to import them. */
/** What a function returns, or what it promises. */
type Made<F extends (...given: never[]) => unknown> = Awaited<ReturnType<F>>
type Answers = import('./answers.d.ts').Answers
/** Parameters of a path, by their names. */
type Params = Readonly<Record<string, string>>
type Query = import('./route.ts').Query
type Place = import('./route.ts').Place
type ActorEvent = import('./event-log.ts').ActorEvent
type Step = import('./steps-model.ts').Step
type Layout = import('./chart-model.ts').Layout
/** The cells of a row by the names of their columns; the first is the row's name. */
type Columns<Row> = Readonly<Record<string, (row: Row, index: number) => import('./vendor/preact.js').ComponentChild>>

/** What components are given most often: those that take such a part take it by this name. Templates do not check it. */
interface Props {
  project: string
  place: Place
  actor: import('./actor-facts.ts').Actor
  layout: Layout
  steps: readonly Step[]
  step: Step
  events: readonly ActorEvent[]
  /** The event up to which a log is shown; null: all of it. */
  upTo: number | null
  nameOf: (step: Step) => string
  resource: import('./resources/types.ts').Resource
  row: import('./resources/types.ts').Row
  id: string
  name: string
  label: string
  title: string
  text: string
  operates: boolean
  /** Reads the page again. */
  done: () => void
  close: () => void
  children: import('./vendor/preact.js').ComponentChildren
}
