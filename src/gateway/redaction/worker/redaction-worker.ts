import { serveParsers } from '#src/parsing/serve-parsers.ts'
import { redactionTasks } from './redaction-tasks.ts'

serveParsers({ ...redactionTasks })
