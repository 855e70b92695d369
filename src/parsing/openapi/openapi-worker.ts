import { serveParsers } from '../serve-parsers.ts'
import { openApiTasks } from './openapi-tasks.ts'

serveParsers(openApiTasks)
