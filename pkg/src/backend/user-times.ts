// The times of user values in memory, which end where nobody needs them.

/** The times at which the values of users were last written, in milliseconds since the epoch. */
export class UserTimes {
  readonly #times = new Map<string, Map<string, number>>();

  /** Notes a write. */
  written(appName: string, userId: string, time: number): void {
    const users = this.#times.get(appName) ?? new Map<string, number>();
    this.#times.set(appName, users.set(userId, time));
  }

  /** Takes out a user whose values were removed. */
  removed(appName: string, userId: string): void {
    const users = this.#times.get(appName);
    users?.delete(userId);
    if (users?.size === 0) {
      this.#times.delete(appName);
    }
  }

  /** The users whose values were last written at a time or before, in one app or in all. */
  *until(time: number, app: string | undefined): Iterable<{ readonly appName: string; readonly userId: string }> {
    for (const [appName, users] of this.#times) {
      if (app === undefined || app === appName) {
        for (const [userId, written] of users) {
          if (written <= time) {
            yield { appName, userId };
          }
        }
      }
    }
  }
}
