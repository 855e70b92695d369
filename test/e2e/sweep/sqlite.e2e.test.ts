import { sweepOn } from './sweep.ts'

sweepOn('sqlite')
