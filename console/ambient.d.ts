/* Types that many pages name, so that none has to import them. */
type Answers = import('./answers.js').Answers
type Query = import('./route.js').Query
type Place = import('./parts/query-form.js').Place
type Columns<Row> = import('./parts/table.js').Columns<Row>
type ActorEvent = import('./event-log.js').ActorEvent
type Step = import('./steps-model.js').Step
type Layout = import('./chart-model.js').Layout
