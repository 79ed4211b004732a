import { z } from 'zod';
import { partnerSchema, ruleSchema } from './rule-schema.js';
import { oneOrMore, path, positiveDuration, section, text } from './values.js';

/** Folders instead of HTTP: SFTP, VAN and AS2 drops. Only `in` and `out` must be given; all lie on one file system. */
export const watchSchema = section({
  name: text.optional().describe('Name for logs and metrics. Default: the folder.'),
  protocol: z.enum(['edifact', 'x12', 'sbdh']).describe('What the files hold.'),
  in: path.describe('Where files arrive.'),
  out: path.describe('Where first copies go, with their name, time and mode.'),
  work: path.optional().describe('Files in work. Default: work, beside in.'),
  duplicates: path.optional().describe('Repetitions. Default: duplicates, beside in.'),
  refused: path.optional().describe('What cannot be read, with the reason. Default: refused, beside in.'),
  quarantine: path.optional().describe('Same key, other content. Default: quarantine, beside in.'),
  acks: path.optional().describe('Where the translator writes acknowledgements.'),
  ackOut: path.optional().describe('Where acknowledgements are put for the transfer tool.'),
  ignore: oneOrMore(text).optional()
    .describe('Names that are still being written. Default *.part, *.tmp, *.filepart, .*'),
  trigger: text.optional().describe('A file is ready when one with this name lies beside it, for example *.done.'),
  stable: positiveDuration.optional()
    .describe('Without a trigger: a file is ready when size and time stood still for so long. Default 30s.'),
  poll: positiveDuration.optional().describe('How often the folder is read. Default 5s.'),
  scope: text.optional().describe('Keeps references apart: tenant, test or production. Default: the file\'s scope.'),
  defaults: ruleSchema.optional().describe('What differs from the file\'s defaults for this folder.'),
  partners: z.array(partnerSchema).optional().describe('Partners of this folder, beside the file\'s.'),
});

export type WatchInput = z.output<typeof watchSchema>;
