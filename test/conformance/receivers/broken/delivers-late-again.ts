import { GoodReceiver } from '../good.js';
import type { Incoming } from '../incoming.js';
import type { Reply } from '../outgoing.js';

/** Answers a duplicate rightly and delivers it a moment later all the same: only the quiet period shows it. */
export class DeliversLateAgain extends GoodReceiver {
  override replay(incoming: Incoming, reply: Reply): Reply {
    setTimeout(() => void this.deliver(incoming), 5);
    return reply;
  }
}
