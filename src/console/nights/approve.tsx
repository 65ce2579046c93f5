import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Plan, RunDetail } from '../../api/schema.js';
import { send } from '../app/client.js';
import { Refused } from '../app/faults.js';
import { useSession, useWhyNot } from '../app/queries.js';
import { Dialog } from '../kit/dialog.js';
import { counted } from '../kit/format.js';
import { Button, Field } from '../kit/parts.js';
import { Figures } from '../kit/plan.js';

/** Lets a stopped night through: what it will do, who says so, and then the run that does it. */
export function LetThrough({ run, plan }: { run: RunDetail; plan: Plan | undefined }) {
  const [open, setOpen] = useState(false);
  const { name, via, company_name, company } = useSession();
  const [by, setBy] = useState(name);
  const [, go] = useLocation();
  const mayNot = useWhyNot('approver');
  const { allowed, why } = run.actions.approve;
  const approve = useMutation({
    mutationFn: () => send<{ id: string }>('POST', `/runs/${encodeURIComponent(run.id)}/approve`, { by: by.trim() }),
    onSuccess: ({ id }) => go(`/runs/${id}`),
  });
  const rows = plan ? plan.created + plan.updated : 0;
  const close = () => setOpen(false);
  return (
    <>
      <Button
        look="primary"
        why={mayNot ?? (allowed ? (plan ? undefined : 'What it would do is not known yet.') : why)}
        onClick={() => setOpen(true)}
      >
        Let it through…
      </Button>
      <Dialog
        open={open && plan !== undefined}
        onClose={close}
        title={`Write ${counted(rows, 'record')} to ${company_name ?? `company ${company}`}?`}
        footer={
          <>
            <Button onClick={close}>Leave it</Button>
            <Button look="danger" type="submit" form="let-through" busy={approve.isPending}>
              Write {counted(rows, 'record')}
            </Button>
          </>
        }
      >
        <form
          id="let-through"
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            approve.mutate();
          }}
        >
          {plan && (
            <Figures
              of={[
                { n: plan.updated, what: 'to update' },
                { n: plan.created, what: 'to create' },
                { n: plan.cleared, what: 'values to empty', tone: 'warn', icon: 'warn' },
              ]}
            />
          )}
          <p>
            Exactly this plan is carried out. Where a record has changed since, so that another value would be written,
            the run stops again. You can take it back afterwards.
          </p>
          {via === 'user' ? (
            <p>It is noted that {name} let it through.</p>
          ) : (
            <Field label="Who lets it through" hint="It stands in the reports and in the log.">
              {(props) => (
                <input
                  {...props}
                  className="input"
                  required
                  pattern=".*\S.*"
                  maxLength={200}
                  value={by}
                  onChange={({ target }) => setBy(target.value)}
                />
              )}
            </Field>
          )}
          <Refused error={approve.error} />
        </form>
      </Dialog>
    </>
  );
}
