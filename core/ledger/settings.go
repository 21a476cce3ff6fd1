package ledger

import (
	"context"
	"errors"
)

// SetSetting keeps one setting a machine changes (a window's size, do-not-disturb). What a person
// decides is in the configuration file instead.
func (d *DB) SetSetting(ctx context.Context, key, value string) error {
	if d.write == nil {
		return errReader
	}
	if key == "" {
		return errors.New("set setting: no key")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.here(); err != nil {
		return d.wrap("write", err)
	}
	_, err := d.write.ExecContext(ctx, `INSERT INTO settings (key, value, changed_at) VALUES (?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at
		WHERE settings.value <> excluded.value`, key, value, now().String())
	return d.wrap("set setting", err)
}

func settings(ctx context.Context, q queryer) (map[string]string, error) {
	rows, err := q.QueryContext(ctx, "SELECT key, value FROM settings")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]string{}
	for rows.Next() {
		var key, value string
		if err := rows.Scan(&key, &value); err != nil {
			return nil, err
		}
		all[key] = value
	}
	return all, rows.Err()
}
